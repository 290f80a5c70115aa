//! Messages of no provider: what a history says, before any protocol has its way (reference 1.1-1.4).
