//! Graphics programs of Maxwell: the corpus, instructions against functions of their own, helpers
//! against the sentences of the documents, and pixels of the rasteriser against arrays of them.

mod attributes;
mod corpus;
mod drawn;
mod headers;
mod helpers;
mod pixels;
mod stages;
mod support;
