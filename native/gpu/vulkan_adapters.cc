// SPDX-License-Identifier: Apache-2.0
#include "gpu/vulkan_adapters.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace veravox {
namespace {

// The few parts of Vulkan's ABI that are used here, so that building needs no headers of Vulkan.
struct InstanceInfo {
  int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  uint32_t flags = 0;
  const void* application = nullptr;
  uint32_t layers = 0;
  const char* const* layer_names = nullptr;
  uint32_t extensions = 0;
  const char* const* extension_names = nullptr;
};

struct DeviceProperties {
  std::array<uint32_t, 4> versions_and_ids;
  uint32_t type;
  std::array<char, 256> name;
  std::array<std::byte, 4096> others;  // of which Vulkan writes some 550 bytes
};

using Instance = void*;
using PhysicalDevice = void*;
using CreateInstance = int32_t (*)(const InstanceInfo*, const void*, Instance*);
using DestroyInstance = void (*)(Instance, const void*);
using ListDevices = int32_t (*)(Instance, uint32_t*, PhysicalDevice*);
using GetProperties = void (*)(PhysicalDevice, DeviceProperties*);

// VkPhysicalDeviceType: other, integrated, discrete, virtual, CPU.
constexpr uint32_t kSoftware = 4;
constexpr std::array<int, 5> kRanks{2, 1, 0, 2, 3};

int RankOf(uint32_t type) { return type < kRanks.size() ? kRanks[type] : kRanks[0]; }

template <typename Function>
Function Load(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::vector<DeviceProperties> PropertiesOfAll(void* library) {
  const auto create = Load<CreateInstance>(library, "vkCreateInstance");
  const auto destroy = Load<DestroyInstance>(library, "vkDestroyInstance");
  const auto list = Load<ListDevices>(library, "vkEnumeratePhysicalDevices");
  const auto get = Load<GetProperties>(library, "vkGetPhysicalDeviceProperties");
  if (create == nullptr || destroy == nullptr || list == nullptr || get == nullptr) return {};
  const InstanceInfo info;
  Instance instance = nullptr;
  if (create(&info, nullptr, &instance) != 0) return {};
  std::array<PhysicalDevice, 16> devices{};
  uint32_t count = devices.size();
  // Positive results are no errors: there may be more devices.
  if (list(instance, &count, devices.data()) < 0) count = 0;
  std::vector<DeviceProperties> found(count);
  for (uint32_t i = 0; i < count; ++i) get(devices[i], &found[i]);
  destroy(instance, nullptr);
  return found;
}

}  // namespace

std::vector<VulkanAdapter> VulkanAdapters() {
  // Never closed: drivers may leave threads behind.
  void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  auto found = PropertiesOfAll(library);
  std::ranges::stable_sort(found, {}, [](const auto& properties) { return RankOf(properties.type); });
  std::vector<VulkanAdapter> adapters;
  for (const auto& [ids, type, name, others] : found) {
    adapters.push_back({std::string(name.data(), strnlen(name.data(), name.size())), type == kSoftware});
  }
  return adapters;
}

}  // namespace veravox
