#include "foxhunt/columns/bench_dbn.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/columns/csv_io.h"
#include "foxhunt/columns/peer_process.h"
#include "foxhunt/market/byte_output.h"
#include "foxhunt/market/dbn/stream.h"

namespace foxhunt::columns {
namespace {

namespace fs = std::filesystem;
using market::dbn::RawRecord;
using market::dbn::RecordStream;
using Clock = std::chrono::steady_clock;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// One file as it is timed: plain and packed.
struct Subject {
  std::string name{};
  std::string plain{};
  std::string packed{};
  std::int64_t records = 0;
  std::size_t metadata_bytes = 0;
};

std::string unpack(const fs::path& path) {
  const auto source = market::open_bytes(path);
  std::string plain;
  for (std::size_t got = 1; got != 0;) {
    constexpr std::size_t kStep = std::size_t{1} << 20U;
    const std::size_t had = plain.size();
    plain.resize(had + kStep);
    got = source->read(std::as_writable_bytes(std::span(plain).subspan(had)));
    plain.resize(had + got);
  }
  return plain;
}

std::int64_t count_records(const std::string& plain, const std::string& name) {
  RecordStream stream(bytes_of(plain), name, {.strict = true});
  std::int64_t records = 0;
  for (RawRecord record; stream.next(record);) ++records;
  return records;
}

Subject load(const fs::path& path, std::int64_t least) {
  Subject subject{.name = path.filename().string(), .plain = unpack(path)};
  subject.records = count_records(subject.plain, path.string());
  if (subject.records == 0) throw DataError(fmt::format("{}: holds no records", path.string()));
  if (subject.plain.starts_with("DBN")) {
    std::uint32_t length = 0;
    std::memcpy(&length, subject.plain.data() + 4, sizeof length);
    subject.metadata_bytes = market::kDbnPreludeSize + length;
  }
  const std::string records = subject.plain.substr(subject.metadata_bytes);
  const std::int64_t copies =
      std::max<std::int64_t>(1, (least + subject.records - 1) / subject.records);
  for (std::int64_t i = 1; i < copies; ++i) subject.plain += records;
  subject.records *= copies;
  if (copies > 1) subject.name += fmt::format(" x {}", copies);
  const auto out = market::zstd_output(market::memory_output(subject.packed), 3);
  out->write(bytes_of(subject.plain));
  out->commit();
  return subject;
}

/// What is counted of CSV: its bytes, thrown away.
class CountedOutput final : public market::ByteOutput {
 public:
  explicit CountedOutput(std::size_t& bytes) : bytes_(bytes) {}
  void write(std::span<const std::byte> bytes) override { bytes_ += bytes.size(); }
  void commit() override {}

 private:
  std::size_t& bytes_;
};

/// Seconds, and what the work answered: bytes or records, so that it cannot be left out.
struct Timed {
  double seconds = 0;
  std::size_t answer = 0;
};

template <class Work>
Timed timed(Work work) {
  const auto start = Clock::now();
  const std::size_t answer = work();
  return {std::chrono::duration<double>(Clock::now() - start).count(), answer};
}

std::size_t zstd_alone(const Subject& subject) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  std::vector<char> room(std::size_t{256} << 10U);
  ZSTD_inBuffer from{subject.packed.data(), subject.packed.size(), 0};
  std::size_t bytes = 0;
  while (from.pos < from.size) {
    ZSTD_outBuffer to{room.data(), room.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &to, &from)) != 0) return 0;
    bytes += to.pos;
  }
  return bytes;
}

/// Every record's bounds, type and index time.
std::size_t decode(RecordStream& stream) {
  std::size_t records = 0;
  std::uint64_t sum = 0;
  for (RawRecord record; stream.next(record); ++records) sum += index_time(record);
  volatile std::uint64_t kept = sum;
  static_cast<void>(kept);
  return records;
}

Timed run_way(const std::string& way, const Subject& subject) {
  if (way == "zstd") return timed([&] { return zstd_alone(subject); });
  if (way == "decode_zstd") {
    auto source = market::memory_bytes(subject.packed, subject.name);
    return timed([&] {
      RecordStream stream(std::move(source));
      return decode(stream);
    });
  }
  if (way == "decode") {
    return timed([&] {
      RecordStream stream(bytes_of(subject.plain), subject.name);
      return decode(stream);
    });
  }
  return timed([&] {
    std::size_t bytes = 0;
    RecordStream stream(bytes_of(subject.plain), subject.name);
    const auto sink =
        csv_sink(std::make_unique<CountedOutput>(bytes), subject.name, stream.metadata(), {});
    for (RawRecord record; stream.next(record);) sink->write(record);
    sink->finish();
    return bytes;
  });
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The files of one subject for the peer, which reads them once into memory.
struct PeerFiles {
  explicit PeerFiles(const Subject& subject)
      : folder(fs::temp_directory_path() / fmt::format("foxhunt-bench-dbn-{}", ::getpid())) {
    make_folder(folder);
    write_file_atomic(folder / "plain.dbn", subject.plain);
    write_file_atomic(folder / "packed.dbn.zst", subject.packed);
  }
  ~PeerFiles() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  PeerFiles(const PeerFiles&) = delete;
  PeerFiles& operator=(const PeerFiles&) = delete;
  fs::path folder;
};

Timed ask(PeerProcess& peer, const std::string& way) {
  const auto answer = nlohmann::json::parse(peer.ask("run " + way));
  if (answer.contains("error")) {
    throw UsageError(fmt::format("[bench] the peer: {}", answer["error"].get<std::string>()));
  }
  return {answer.at("seconds").get<double>(), answer.at("answer").get<std::size_t>()};
}

/// Keeps this thread, and the peer that it starts, on one core.
void pin(int core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  if (core < 0) {
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed)) core = static_cast<int>(i);
    }
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  if (::sched_setaffinity(0, sizeof one, &one) != 0) {
    throw UsageError(fmt::format("[bench] core {} cannot be used: {}", core, std::strerror(errno)));
  }
}

BenchDbnRow measure(const std::string& way, const Subject& subject, int repeats,
                    PeerProcess* peer) {
  std::vector<double> own;
  std::vector<double> other;
  std::vector<double> ratios;
  std::vector<double> zstd;
  std::vector<double> over_zstd;
  run_way(way, subject);  // warm
  if (peer != nullptr) ask(*peer, way);
  for (int i = 0; i < repeats; ++i) {
    const Timed mine = run_way(way, subject);
    own.push_back(mine.seconds);
    zstd.push_back(run_way("zstd", subject).seconds);
    over_zstd.push_back(mine.seconds / zstd.back());
    if (peer == nullptr) continue;
    const Timed theirs = ask(*peer, way);
    if (theirs.answer != mine.answer) {
      throw DataError(fmt::format("[bench] {}: {}: the peer answers {}, this program {}",
                                  subject.name, way, theirs.answer, mine.answer));
    }
    other.push_back(theirs.seconds);
    ratios.push_back(theirs.seconds / mine.seconds);
  }
  const auto records = static_cast<double>(subject.records);
  BenchDbnRow row{.file = subject.name,
                  .way = way,
                  .records = subject.records,
                  .plain_bytes = static_cast<std::int64_t>(subject.plain.size()),
                  .seconds = median(own),
                  .zstd_only_s = median(zstd),
                  .times_zstd = median(over_zstd)};
  row.records_per_s = records / row.seconds;
  if (peer != nullptr) {
    row.peer_records_per_s = records / median(other);
    row.times_peer = median(ratios);
  }
  return row;
}

}  // namespace

std::vector<BenchDbnRow> bench_dbn(const BenchDbnOptions& options,
                                   const std::function<void(const BenchDbnRow&)>& row) {
  pin(options.core);
  std::vector<BenchDbnRow> rows;
  for (const fs::path& path : options.files) {
    const Subject subject = load(path, options.least_records);
    std::optional<PeerFiles> files;
    std::optional<PeerProcess> peer;
    if (!options.peer_python.empty()) {
      files.emplace(subject);
      peer.emplace(std::vector<std::string>{
          options.peer_python.string(), options.peer_script.string(),
          (files->folder / "plain.dbn").string(), (files->folder / "packed.dbn.zst").string()});
    }
    for (const char* way : {"zstd", "decode_zstd", "decode", "csv"}) {
      const bool has_peer = peer && std::string_view(way) != "zstd";
      BenchDbnRow one = measure(way, subject, options.repeats, has_peer ? &*peer : nullptr);
      if (row) row(one);
      rows.push_back(std::move(one));
    }
  }
  return rows;
}

}  // namespace foxhunt::columns
