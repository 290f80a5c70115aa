//! Files.

use super::limits::{self, Media};
use super::{Check, Rule};
use crate::describe::{Model, Protocol};
use crate::image;

/// The files of a request, as far as they count together.
#[derive(Default)]
pub(super) struct Files {
    any: bool,
    images: usize,
    /// Images larger than a request with many of them may have.
    large: Vec<String>,
}

impl Files {
    pub(super) fn end(&mut self, body: u64, model: &Model) -> Vec<(Rule, Option<String>)> {
        let limits = limits::media(model);
        let mut found = Vec::new();
        if self.images > limits.images_count {
            found.push((Rule::MediaCount, None));
        }
        if self.any && body > limits.request_bytes {
            found.push((Rule::MediaTotal, None));
        }
        if limits.pixels_of_many.is_some_and(|(many, _)| self.images > many) {
            found.extend(self.large.drain(..).map(|at| (Rule::MediaPixels, Some(at))));
        }
        found
    }
}

impl Check<'_> {
    /// A file in base64.
    pub(super) fn file(&mut self, media_type: &str, data: &str, at: &str) {
        let limits: Media = limits::media(self.model);
        self.files.any = true;
        if !limits.takes(media_type) {
            self.fail(Rule::MediaType, at);
        }
        if !image::is_base64(data) {
            self.fail(Rule::MediaData, at);
            return;
        }
        let seen = image::look(data);
        if limits.images.contains(&media_type) {
            self.files.images += 1;
            if data.len() > limits.image_bytes {
                self.fail(Rule::MediaSize, at);
            }
            if let Some((width, height)) = seen.pixels {
                let side = width.max(height);
                if limits.pixels.is_some_and(|most| side > most) {
                    self.fail(Rule::MediaPixels, at);
                } else if limits.pixels_of_many.is_some_and(|(_, most)| side > most) {
                    self.files.large.push(at.to_owned());
                }
            }
        }
        let looks = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"].contains(&media_type);
        if looks && seen.media_type != Some(media_type) {
            self.fail(Rule::MediaData, at);
        }
    }

    /// A file as a URL: with its content in it, or at an address.
    pub(super) fn file_url(&mut self, url: &str, image: bool, at: &str) {
        if let Some(rest) = url.strip_prefix("data:") {
            let (head, data) = rest.split_once(',').unwrap_or((rest, ""));
            return self.file(head.strip_suffix(";base64").unwrap_or(head), data, at);
        }
        self.files.any = true;
        let web = url.starts_with("https://") || url.starts_with("http://");
        let taken = match self.model.protocol {
            Protocol::Google => web || url.starts_with("gs://"),
            Protocol::Chat => web && image,
            Protocol::Responses | Protocol::Anthropic => web,
        };
        if !taken {
            self.fail(Rule::MediaUrl, at);
        }
    }
}
