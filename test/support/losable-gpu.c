// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan driver that passes everything on to another one (VERAVOX_TEST_DRIVER), except that the device is lost while the
// file VERAVOX_TEST_LOST exists, and that devices say that they are of the type VERAVOX_TEST_TYPE.
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICE_LOST (-4)
#define TYPE_OFFSET_IN_PROPERTIES 4  // in words: the version, the version of the driver, vendor and device come before
#define PROPERTIES_OFFSET_IN_2 4     // in words: a type, padding and a pointer come before

typedef void (*Function)(void);
typedef Function (*Lookup)(void* owner, const char* name);
typedef int (*Submit)(void* queue, uint32_t count, const void* submits, void* fence);
typedef void (*GetProperties)(void* device, uint32_t* properties);

static Lookup next_of_instance, next_of_device;
static Submit next_submit;
static GetProperties next_properties, next_properties2;

static void* library(void) {
  static void* loaded;
  if (loaded == NULL) loaded = dlopen(getenv("VERAVOX_TEST_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  return loaded;
}

static int submit(void* queue, uint32_t count, const void* submits, void* fence) {
  const char* lost = getenv("VERAVOX_TEST_LOST");
  if (lost != NULL && access(lost, F_OK) == 0) return DEVICE_LOST;
  return next_submit(queue, count, submits, fence);
}

static void set_type(uint32_t* properties) {
  const char* type = getenv("VERAVOX_TEST_TYPE");
  if (type != NULL) properties[TYPE_OFFSET_IN_PROPERTIES] = (uint32_t)atoi(type);
}

static void get_properties(void* device, uint32_t* properties) {
  next_properties(device, properties);
  set_type(properties);
}

static void get_properties2(void* device, uint32_t* properties) {
  next_properties2(device, properties);
  set_type(properties + PROPERTIES_OFFSET_IN_2);
}

static Function of_device(void* device, const char* name) {
  const Function found = next_of_device(device, name);
  if (strcmp(name, "vkQueueSubmit") != 0) return found;
  next_submit = (Submit)found;
  return (Function)submit;
}

Function vk_icdGetInstanceProcAddr(void* instance, const char* name) {
  if (next_of_instance == NULL) next_of_instance = (Lookup)dlsym(library(), "vk_icdGetInstanceProcAddr");
  const Function found = next_of_instance(instance, name);
  if (found == NULL) return NULL;
  if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
    next_of_device = (Lookup)found;
    return (Function)of_device;
  }
  if (strcmp(name, "vkGetPhysicalDeviceProperties") == 0) {
    next_properties = (GetProperties)found;
    return (Function)get_properties;
  }
  if (strncmp(name, "vkGetPhysicalDeviceProperties2", strlen("vkGetPhysicalDeviceProperties2")) == 0) {
    next_properties2 = (GetProperties)found;
    return (Function)get_properties2;
  }
  return found;
}

int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  return ((int (*)(uint32_t*))dlsym(library(), "vk_icdNegotiateLoaderICDInterfaceVersion"))(version);
}
