#pragma once
// DBN as a Reader: versions 1, 2 and 3, with metadata or without.
//
// Every record type that this code knows is handed out; others are passed over by their length and
// counted. Bars of the old type 0x11 carry no interval: they get that of the file's schema, and
// where the schema names none (a mixed file) they are passed over too. Symbol mappings of live
// streams are handed out and applied: info().mappings grows by each that says something new, and
// symbol_of() knows it.

#include <cstddef>
#include <memory>
#include <span>

#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {

/// Reads the metadata. Without it the version is options.dbn_version, or else inferred from the
/// sizes of the first records (about a thousand); info().version says which was taken.
/// Inferring waits for 64 KiB or the end: who reads a pipe without metadata names the version.
/// Errors  FormatError naming the source: neither metadata nor a record at the front, version over
///         3, metadata that is cut short or breaks a rule; ConfigError: options.dbn_version.
///         next() throws FormatError with the byte offset in the decompressed stream for a length
///         that is less than a record of its type has.
std::unique_ptr<Reader> make_dbn_reader(std::unique_ptr<ByteSource> source,
                                        const ReadOptions& options = {});

}  // namespace foxhunt::market
