// Ranks that are processes, over LibTorch's c10d: the only file that sees Gloo.
#include <ATen/Functions.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "foxhunt/base/log.h"
#include "foxhunt/ranks/file_board.h"
#include "foxhunt/ranks/join.h"
#include "foxhunt/ranks/plain_reason.h"
#include "foxhunt/ranks/watch.h"

#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

// gloo_shim/ declares what the header above needs of gloo: right for one size of the class only.
static_assert(sizeof(c10d::ProcessGroupGloo) == 0x1e8,
              "another LibTorch: compare gloo_shim/ with its ProcessGroupGloo.hpp");

namespace foxhunt::ranks {
namespace {

/// An exchange may wait as long as a rank needs to validate or save; the watch finds lost ranks.
constexpr std::chrono::hours kExchange{24};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class StoreBoard final : public Board {
 public:
  explicit StoreBoard(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}
  void set(const std::string& name, const std::string& text) override {
    store_->set(name, std::vector<std::uint8_t>(text.begin(), text.end()));
  }
  std::string get(const std::string& name) override {
    const std::vector<std::uint8_t> bytes = store_->get(name);
    return {bytes.begin(), bytes.end()};
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
};

/// The address of this host that packets to `host` leave from.
std::string own_address(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found);
  if (code != 0) {
    throw ConfigError(fmt::format("[ranks] MASTER_ADDR={}: {}", host, ::gai_strerror(code)));
  }
  std::string out;
  for (const addrinfo* a = found; a != nullptr && out.empty(); a = a->ai_next) {
    const int fd = ::socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    sockaddr_storage here{};
    socklen_t length = sizeof here;
    if (::connect(fd, a->ai_addr, a->ai_addrlen) == 0 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &length) == 0) {
      char text[NI_MAXHOST] = {};
      if (::getnameinfo(reinterpret_cast<sockaddr*>(&here), length, text, sizeof text, nullptr, 0,
                        NI_NUMERICHOST) == 0)
        out = text;
    }
    ::close(fd);
  }
  ::freeaddrinfo(found);
  if (out.empty()) throw ConfigError(fmt::format("[ranks] no way to MASTER_ADDR={}", host));
  return out;
}

std::shared_ptr<gloo::transport::Device> device_of(const Place& place) {
  using c10d::ProcessGroupGloo;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0')
    return ProcessGroupGloo::createDeviceForInterface(interface);
  return ProcessGroupGloo::createDeviceForHostname(
      place.file.empty() ? own_address(place.address, place.port) : "127.0.0.1");
}

class GlooRanks final : public Ranks {
 public:
  GlooRanks(const Place& place, const JoinOptions& options) : place_(place) {
    c10::intrusive_ptr<c10d::Store> store;
    std::unique_ptr<Board> board;
    if (!place.file.empty()) {
      store = c10::make_intrusive<c10d::FileStore>(place.file.string(), place.size);
      store->setTimeout(options.meeting);
      board = std::make_unique<FileBoard>(place.file.string() + ".board", options.meeting);
    } else {
      c10d::TCPStoreOptions so;
      so.port = place.port;
      so.isServer = place.rank == 0 && !place.served;
      so.numWorkers = static_cast<std::size_t>(place.size);
      so.timeout = options.meeting;
      const auto prefixed = [&](const char* name) {
        const auto tcp = c10::make_intrusive<c10d::TCPStore>(place.address, so);
        so.isServer = false;  // the second one is a connection only
        so.waitWorkers = false;
        return c10::make_intrusive<c10d::PrefixStore>(
            fmt::format("foxhunt{}/{}", place.attempt, name), tcp);
      };
      store = prefixed("gloo");
      board = std::make_unique<StoreBoard>(prefixed("watch"));
    }
    auto group_options = c10d::ProcessGroupGloo::Options::create(kExchange);
    group_options->devices.push_back(device_of(place));
    group_options->timeout = options.meeting;
    group_ =
        c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.size, group_options);
    group_->setTimeout(kExchange);
    store_ = store;
    WatchOptions watching;
    watching.silence = options.silence;
    watching.host_of_board = place.file.empty() && !place.served && place.rank == 0;
    watching.lost = [this](const std::string& what) { end_process(what); };
    watch_ = std::make_unique<Watch>(std::move(board), place.rank, place.size, watching);
  }

  ~GlooRanks() override { watch_.reset(); }

  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }

  void all_to_all(std::span<const float> send, std::span<const std::int64_t> send_counts,
                  std::span<float> receive, std::span<const std::int64_t> receive_counts) override {
    at::Tensor in = wrap(send.data(), send.size(), at::kFloat);
    at::Tensor out = wrap(receive.data(), receive.size(), at::kFloat);
    std::vector<std::int64_t> in_counts(send_counts.begin(), send_counts.end());
    std::vector<std::int64_t> out_counts(receive_counts.begin(), receive_counts.end());
    wait_for([&] { return group_->alltoall_base(out, in, out_counts, in_counts); });
  }

  void all_gather(std::span<const float> mine, std::span<float> all) override {
    gather_tensors(wrap(mine.data(), mine.size(), at::kFloat),
                   wrap(all.data(), all.size(), at::kFloat));
  }

  std::vector<std::string> gather(std::string_view mine) override {
    const std::int64_t length = static_cast<std::int64_t>(mine.size());
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(size()));
    gather_tensors(wrap(&length, 1, at::kLong), wrap(lengths.data(), lengths.size(), at::kLong));
    const auto longest =
        static_cast<std::size_t>(std::max<std::int64_t>(1, std::ranges::max(lengths)));
    std::string padded(mine);
    padded.resize(longest);
    std::string bytes(longest * lengths.size(), '\0');
    gather_tensors(wrap(padded.data(), padded.size(), at::kChar),
                   wrap(bytes.data(), bytes.size(), at::kChar));
    std::vector<std::string> all;
    for (std::size_t r = 0; r < lengths.size(); ++r)
      all.push_back(bytes.substr(r * longest, static_cast<std::size_t>(lengths[r])));
    return all;
  }

  void set_advice(std::string text) override {
    const std::lock_guard lock(mutex_);
    Ranks::set_advice(std::move(text));
  }
  void ends(const std::string& why) override { watch_->tell(first_line(why)); }
  void done() override { watch_->stop(); }

 private:
  /// Memory as a tensor; what is only read lacks a const form.
  static at::Tensor wrap(const void* data, std::size_t count, at::ScalarType type) {
    static char nothing[8];
    return at::from_blob(count > 0 ? const_cast<void*>(data) : nothing,
                         {static_cast<std::int64_t>(count)}, at::TensorOptions(type));
  }

  void gather_tensors(at::Tensor mine, at::Tensor all) {
    wait_for([&] { return group_->_allgather_base(all, mine); });
  }

  template <class Begin>
  void wait_for(Begin&& begin) {
    std::string what;
    try {
      begin()->wait();
      return;
    } catch (const std::exception& error) {
      what = plain_reason(error.what());
    }
    throw LostRankError(with_advice(watch_->explain(what)));
  }

  std::string with_advice(const std::string& what) {
    const std::lock_guard lock(mutex_);
    return fmt::format("{}{}", what, advice());
  }

  void end_process(const std::string& what) {
    log::error("foxhunt: {}", with_advice(what));
    ::_exit(static_cast<int>(ExitCode::kFailure));
  }

  Place place_;
  std::mutex mutex_;  ///< guards the advice
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace

std::unique_ptr<Ranks> join(const Place& place, const JoinOptions& options) {
  try {
    return std::make_unique<GlooRanks>(place, options);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const std::string where =
        place.file.empty() ? fmt::format("{}:{}", place.address, place.port) : place.file.string();
    throw ConfigError(fmt::format("[ranks] rank {} of {} ({}) did not meet the others at {}: {}",
                                  place.rank, place.size, place.started_by, where,
                                  plain_reason(error.what())));
  }
}

}  // namespace foxhunt::ranks
