// Reading. A file is trusted with nothing: every number is checked before it is used, sums cannot
// overflow.
#include "foxhunt/model/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::model {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeader = 100'000'000;

struct DTypeName {
  std::string_view name;
  DType dtype;
  std::size_t size;
};
constexpr DTypeName kDTypes[] = {{"F64", DType::kF64, 8}, {"F32", DType::kF32, 4},
                                 {"F16", DType::kF16, 2}, {"BF16", DType::kBF16, 2},
                                 {"I64", DType::kI64, 8}, {"I32", DType::kI32, 4},
                                 {"I16", DType::kI16, 2}, {"I8", DType::kI8, 1},
                                 {"U8", DType::kU8, 1},   {"BOOL", DType::kBool, 1}};

const DTypeName& entry_of(DType dtype) {
  return *std::find_if(std::begin(kDTypes), std::end(kDTypes),
                       [&](const DTypeName& e) { return e.dtype == dtype; });
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw FormatError(fmt::format("{}: {}", file, what));
}

Json parse_header(const std::string& file, std::string_view text) {
  if (const std::string problem = json_problem(text); !problem.empty())
    refuse(file, "the header " + problem);
  return Json::parse(text);
}

std::map<std::string, std::string> parse_metadata(const std::string& file, const Json& entry) {
  if (!entry.is_object()) refuse(file, "__metadata__ is not a JSON object");
  std::map<std::string, std::string> metadata;
  for (const auto& item : entry.items()) {
    if (!item.value().is_string())
      refuse(file, fmt::format("__metadata__ '{}' is not a string", item.key()));
    metadata[item.key()] = item.value().get<std::string>();
  }
  return metadata;
}

std::optional<std::uint64_t> unsigned_of(const Json& json) {
  if (!json.is_number_unsigned()) return std::nullopt;
  return json.get<std::uint64_t>();
}

/// Bytes that `shape` takes, or nullopt where that is beyond `limit`.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape,
                                      std::uint64_t value_size, std::uint64_t limit) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = value_size;
  for (const std::int64_t n : shape) {
    if (static_cast<std::uint64_t>(n) > limit / bytes) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(n);
  }
  return bytes;
}

/// One entry of the header against the `data` behind it.
TensorView parse_tensor(const std::string& file, const std::string& name, const Json& entry,
                        std::span<const std::byte> data) {
  const auto fail = [&](const std::string& what) {
    refuse(file, fmt::format("tensor '{}': {}", name, what));
  };
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets")) {
    fail("its entry must have dtype, shape and data_offsets, nothing else");
  }
  TensorView view;
  view.name = name;
  const Json& dtype = entry["dtype"];
  const auto* known = std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DTypeName& e) {
    return dtype.is_string() && dtype.get_ref<const std::string&>() == e.name;
  });
  if (known == std::end(kDTypes)) fail(fmt::format("unknown dtype {}", dtype.dump()));
  view.dtype = known->dtype;

  const Json& shape = entry["shape"];
  if (!shape.is_array()) fail("its shape is not a list");
  for (const Json& n : shape) {
    const auto size = unsigned_of(n);
    if (!size || *size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(fmt::format("its shape has {}", n.dump()));
    }
    view.shape.push_back(static_cast<std::int64_t>(*size));
  }
  const Json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) fail("its data_offsets are not two numbers");
  const auto begin = unsigned_of(offsets[0]);
  const auto end = unsigned_of(offsets[1]);
  if (!begin || !end || *begin > *end || *end > data.size()) {
    fail(fmt::format("data_offsets {} do not lie in the {} bytes of data", offsets.dump(),
                     data.size()));
  }
  const auto needed = bytes_of(view.shape, known->size, std::numeric_limits<std::uint64_t>::max());
  if (needed != *end - *begin) {
    fail(fmt::format("{} bytes, but {} {} needs {}", *end - *begin, known->name, shape.dump(),
                     needed ? fmt::format("{}", *needed) : "more than any file can have"));
  }
  view.bytes = data.subspan(*begin, *end - *begin);
  return view;
}

/// Tensors follow each other without a gap and end with the file.
void check_layout(const std::string& file, const std::vector<TensorView>& tensors,
                  std::span<const std::byte> data) {
  const std::byte* expected = data.data();
  for (const TensorView& view : tensors) {
    if (view.bytes.data() != expected) {
      refuse(file, fmt::format("tensor '{}' starts at byte {} of the data, but must at {}: tensors "
                               "overlap or leave a "
                               "hole",
                               view.name, view.bytes.data() - data.data(), expected - data.data()));
    }
    expected += view.bytes.size();
  }
  const auto rest = data.data() + data.size() - expected;
  if (rest != 0) refuse(file, fmt::format("{} bytes follow the last tensor", rest));
}

}  // namespace

std::string_view to_string(DType dtype) { return entry_of(dtype).name; }
std::size_t size_of(DType dtype) { return entry_of(dtype).size; }

struct SafetensorsFile::Mapping {
  Mapping(const std::string& file, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) fail(file, "cannot be examined");
    if (!S_ISREG(status.st_mode)) throw IoError(fmt::format("{}: is not a file", file));
    size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return;
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) fail(file, "cannot be mapped");
    data = static_cast<const std::byte*>(mapped);
  }
  ~Mapping() {
    if (data != nullptr) ::munmap(const_cast<std::byte*>(data), size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[noreturn]] static void fail(const std::string& file, std::string_view what) {
    throw IoError(fmt::format("{}: {}: {}", file, what, std::strerror(errno)));
  }

  const std::byte* data = nullptr;
  std::size_t size = 0;
};

SafetensorsFile::SafetensorsFile() = default;
SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  SafetensorsFile file;
  file.name_ = path.string();
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) Mapping::fail(file.name_, "cannot be opened");
  try {
    file.mapping_ = std::make_unique<Mapping>(file.name_, fd);
  } catch (...) {
    ::close(fd);
    throw;
  }
  ::close(fd);
  file.parse({file.mapping_->data, file.mapping_->size});
  return file;
}

SafetensorsFile SafetensorsFile::from_bytes(std::span<const std::byte> bytes, std::string name) {
  SafetensorsFile file;
  file.name_ = std::move(name);
  file.parse(bytes);
  return file;
}

void SafetensorsFile::parse(std::span<const std::byte> all) {
  if (all.size() < kLengthBytes)
    refuse(name_, fmt::format("{} bytes are too few for a safetensors file", all.size()));
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8U | std::to_integer<std::uint64_t>(all[i]);
  if (length > kMaxHeader)
    refuse(name_, fmt::format("a header of {} bytes; at most {} are allowed", length, kMaxHeader));
  if (length > all.size() - kLengthBytes) {
    refuse(name_, fmt::format("a header of {} bytes, but the file has {}", length, all.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(all.data()) + kLengthBytes, length);
  if (text.empty() || text.front() != '{') refuse(name_, "the header does not start with '{'");
  const Json header = parse_header(name_, text);
  const std::span<const std::byte> data = all.subspan(kLengthBytes + length);
  for (const auto& item : header.items()) {
    if (item.key() == "__metadata__") {
      metadata_ = parse_metadata(name_, item.value());
    } else {
      tensors_.push_back(parse_tensor(name_, item.key(), item.value(), data));
    }
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorView& a, const TensorView& b) {
    // An empty tensor shares its start with its neighbour and comes before it.
    return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
  });
  check_layout(name_, tensors_, data);
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const TensorView& view) { return view.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  const TensorView* view = find(name);
  if (view == nullptr) refuse(name_, fmt::format("has no tensor '{}'", name));
  return *view;
}

}  // namespace foxhunt::model
