/*
 * A Vulkan loader for one driver, Mesa's lavapipe, so that Dawn takes it.
 *
 * Dawn wants shaderSampledImageArrayDynamicIndexing and shaderStorageImageArrayDynamicIndexing, which lavapipe of Mesa 22.3
 * (Debian 12) does not report. Kernels without arrays of textures never need them: this library reports them to the
 * application and asks the driver for a device without them.
 *
 * It takes the loader's place: it exports vkGetInstanceProcAddr under the loader's name libvulkan.so.1, and speaks to the driver
 * by the loader's interface (Vulkan-Loader, LoaderDriverInterface.md, version 5).
 *
 *     cc -O2 -Wall -Wextra -shared -fPIC -Wl,-soname,libvulkan.so.1 -o libvulkan.so.1 shim.c -ldl
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))

static const uint32_t DRIVER_INTERFACE = 5;
static const char DEFAULT_DRIVER[] = "libvulkan_lvp.so";

static PFN_vkGetInstanceProcAddr driver_proc;
static PFN_vkGetPhysicalDeviceFeatures driver_features;
static PFN_vkGetPhysicalDeviceFeatures2 driver_features2;
static PFN_vkCreateDevice driver_create_device;

static void claim(VkPhysicalDeviceFeatures *features, VkBool32 value) {
  features->shaderSampledImageArrayDynamicIndexing = value;
  features->shaderStorageImageArrayDynamicIndexing = value;
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures *features) {
  driver_features(device, features);
  claim(features, VK_TRUE);
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *features) {
  driver_features2(device, features);
  claim(&features->features, VK_TRUE);
}

/* The features come as pEnabledFeatures or as a link of the pNext chain; either is changed for the call alone. */
static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *created) {
  VkDeviceCreateInfo own = *info;
  VkPhysicalDeviceFeatures enabled;
  if (info->pEnabledFeatures) {
    enabled = *info->pEnabledFeatures;
    claim(&enabled, VK_FALSE);
    own.pEnabledFeatures = &enabled;
  }
  VkPhysicalDeviceFeatures2 *chained = NULL;
  for (VkBaseOutStructure *link = (VkBaseOutStructure *)info->pNext; link; link = link->pNext)
    if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) chained = (VkPhysicalDeviceFeatures2 *)link;
  VkPhysicalDeviceFeatures before;
  if (chained) {
    before = chained->features;
    claim(&chained->features, VK_FALSE);
  }
  VkResult result = driver_create_device(device, &own, allocator, created);
  if (chained) chained->features = before;
  return result;
}

static void open_driver(void) {
  const char *path = getenv("WAVE64_LAVAPIPE");
  if (!path) path = DEFAULT_DRIVER;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "lavapipe shim: %s\n", dlerror());
    return;
  }
  PFN_vkVoidFunction (*get_proc)(VkInstance, const char *) = NULL;
  VkResult (*negotiate)(uint32_t *) = NULL;
  *(void **)&get_proc = dlsym(library, "vk_icdGetInstanceProcAddr");
  *(void **)&negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
  uint32_t version = DRIVER_INTERFACE;
  if (!get_proc || !negotiate || negotiate(&version) != VK_SUCCESS) {
    fprintf(stderr, "lavapipe shim: %s is no Vulkan driver of interface version %u\n", path, DRIVER_INTERFACE);
    return;
  }
  driver_proc = get_proc;
}

/* Answers `name` by `own` and remembers the driver's function, if the driver has it. */
#define WRAP(vk_name, own, slot)                      \
  if (strcmp(name, vk_name) == 0) {                   \
    slot = (__typeof__(slot))function;                \
    return function ? (PFN_vkVoidFunction)own : NULL; \
  }

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_driver);
  if (!driver_proc) return NULL;
  if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
  PFN_vkVoidFunction function = driver_proc(instance, name);
  WRAP("vkGetPhysicalDeviceFeatures", get_features, driver_features)
  WRAP("vkGetPhysicalDeviceFeatures2", get_features2, driver_features2)
  WRAP("vkGetPhysicalDeviceFeatures2KHR", get_features2, driver_features2)
  WRAP("vkCreateDevice", create_device, driver_create_device)
  return function;
}
