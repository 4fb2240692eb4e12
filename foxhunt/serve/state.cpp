#include "foxhunt/serve/state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/state_part.h"

namespace foxhunt::serve {
namespace {

constexpr std::string_view kPart = "serve";
constexpr std::uint32_t kVersion = 1;

}  // namespace

StateLock::StateLock(const std::filesystem::path& path)
    : fd_(::open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (fd_ < 0)
    throw IoError(fmt::format("{}.lock: cannot be made: {}", path.string(), std::strerror(errno)));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(fd_);
  throw UsageError(fmt::format("{}: another process serves with this state", path.string()));
}

StateLock::~StateLock() { ::close(fd_); }

void save_state(const std::filesystem::path& path, const SavedState& state,
                const market::BarSelector& selector, const engine::Session& session) {
  const std::vector<std::byte> bytes = state_bytes(state, selector, session);
  write_file_atomic(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<std::byte> state_bytes(const SavedState& state, const market::BarSelector& selector,
                                   const engine::Session& session) {
  ByteWriter out;
  out.value(state.records);
  out.value(state.digest);
  out.value(state.answers);
  out.value(state.ring_id);
  out.value(state.ring_taken);
  out.value(state.output_bytes);
  out.text(state.output_tail);
  out.value(static_cast<std::uint64_t>(state.pending.size()));
  out.raw(std::as_bytes(std::span(state.pending)));
  selector.save(out);
  out.raw(session.save());
  ByteWriter file;
  write_part(file, kPart, kVersion, out.bytes());
  return file.take();
}

SavedState load_state(const std::filesystem::path& path, market::BarSelector& selector,
                      engine::Session& session) {
  const std::string bytes = read_file(path);
  return parse_state(std::as_bytes(std::span(bytes)), path.string(), selector, session);
}

SavedState parse_state(std::span<const std::byte> bytes, const std::string& origin,
                       market::BarSelector& selector, engine::Session& session) {
  ByteReader file(bytes, origin);
  ByteReader in = read_part(file, kPart, kVersion);
  file.finish();
  SavedState state;
  state.records = in.value<std::uint64_t>();
  state.digest = in.value<std::uint64_t>();
  state.answers = in.value<std::uint64_t>();
  state.ring_id = in.value<std::uint64_t>();
  state.ring_taken = in.value<std::uint64_t>();
  state.output_bytes = in.value<std::int64_t>();
  state.output_tail = in.text();
  const auto tail = static_cast<std::int64_t>(state.output_tail.size());
  if (state.output_bytes < -1 || tail > std::max<std::int64_t>(state.output_bytes, 0))
    in.fail(fmt::format("an output of {} bytes that ends in {}", state.output_bytes, tail));
  state.pending.resize(in.count(sizeof(AnswerSlot)));
  for (AnswerSlot& answer : state.pending) {
    std::memcpy(&answer, in.raw(sizeof answer).data(), sizeof answer);
    if (answer.n_outputs > kMostOutputs)
      in.fail(fmt::format("an answer of {} outputs", answer.n_outputs));
  }
  selector.restore(in);
  session.restore(in);
  in.finish();
  if (selector.counters().records < static_cast<std::int64_t>(state.records)) {
    in.fail(fmt::format("{} records, but the selector has seen {}", state.records,
                        selector.counters().records));
  }
  return state;
}

}  // namespace foxhunt::serve
