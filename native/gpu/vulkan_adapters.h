// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace veravox {

struct VulkanAdapter {
  std::string name;
  bool is_software = false;
};

// The devices of the system's Vulkan drivers, in the order in which ONNX Runtime's WebGPU provider prefers
// them: discrete GPUs, integrated ones, others, software. Empty without Vulkan. Loads the drivers, of which a
// broken one may end the process.
std::vector<VulkanAdapter> VulkanAdapters();

}  // namespace veravox
