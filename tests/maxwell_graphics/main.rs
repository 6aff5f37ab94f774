//! Graphics programs of Maxwell: the corpus, instructions against functions of their own, and helpers against the sentences of the documents.

mod attributes;
mod corpus;
mod headers;
mod helpers;
mod pixels;
mod stages;
mod support;
