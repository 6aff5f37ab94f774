// Compiles a Vulkan compute shader with Mesa's RADV for a GPU that is not there, and prints what the driver says of it.
//
//     radv_capture SHADER.spv [--push BYTES] [--set BINDING:KIND,..] ..    > SHADER.txt
//
// KIND is u (uniform buffer), s (storage buffer), i (storage image), t (sampled image with a sampler), or b (texel buffer).
// Run it with RADV_FORCE_FAMILY=vega10 and the radeon driver, see make.sh. Printed are the statistics and every
// representation that VK_KHR_pipeline_executable_properties gives: NIR, ACO's IR, assembly with its encoding.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define MAX_SETS 4
#define MAX_BINDINGS 16

static void check(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "radv_capture: %s: VkResult %d\n", what, result);
        exit(1);
    }
}

static uint32_t *read_words(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint32_t *words = malloc(*bytes + 4);
    if (fread(words, 1, *bytes, file) != *bytes) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return words;
}

static VkDescriptorType descriptor_type(char kind)
{
    switch (kind) {
    case 'u': return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    case 's': return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    case 'i': return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    case 't': return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    case 'b': return VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    default: fprintf(stderr, "radv_capture: kind %c: expected u, s, i, t or b\n", kind); exit(1);
    }
}

// `0:u,1:s` as a layout.
static VkDescriptorSetLayout set_layout(VkDevice device, const char *text)
{
    VkDescriptorSetLayoutBinding bindings[MAX_BINDINGS];
    uint32_t count = 0;
    for (const char *at = text; at && *at && count < MAX_BINDINGS; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        unsigned binding;
        char kind;
        if (sscanf(at, "%u:%c", &binding, &kind) != 2) {
            fprintf(stderr, "radv_capture: --set %s: expected BINDING:KIND,..\n", text);
            exit(1);
        }
        bindings[count++] = (VkDescriptorSetLayoutBinding){binding, descriptor_type(kind), 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    }
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, NULL, 0, count, bindings};
    VkDescriptorSetLayout layout;
    check(vkCreateDescriptorSetLayout(device, &info, NULL, &layout), "vkCreateDescriptorSetLayout");
    return layout;
}

static void print_statistic(const VkPipelineExecutableStatisticKHR *s)
{
    switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: printf("%s: %u\n", s->name, s->value.b32); break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: printf("%s: %lld\n", s->name, (long long)s->value.i64); break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
        printf("%s: %llu\n", s->name, (unsigned long long)s->value.u64);
        break;
    default: printf("%s: %g\n", s->name, s->value.f64);
    }
}

#define LOAD(NAME) PFN_##NAME NAME = (PFN_##NAME)vkGetDeviceProcAddr(device, #NAME)

static void print_executable(VkDevice device, VkPipeline pipeline)
{
    LOAD(vkGetPipelineExecutableStatisticsKHR);
    LOAD(vkGetPipelineExecutableInternalRepresentationsKHR);
    VkPipelineExecutableInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, NULL, pipeline, 0};
    VkPipelineExecutableStatisticKHR statistics[64];
    uint32_t count = 64;
    memset(statistics, 0, sizeof statistics);
    for (uint32_t i = 0; i < count; i++)
        statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    check(vkGetPipelineExecutableStatisticsKHR(device, &info, &count, statistics), "statistics");
    printf("== Statistics\n");
    for (uint32_t i = 0; i < count; i++)
        print_statistic(&statistics[i]);

    VkPipelineExecutableInternalRepresentationKHR texts[16];
    count = 16;
    memset(texts, 0, sizeof texts);
    for (uint32_t i = 0; i < count; i++)
        texts[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    check(vkGetPipelineExecutableInternalRepresentationsKHR(device, &info, &count, texts), "representations");
    for (uint32_t i = 0; i < count; i++)
        texts[i].pData = malloc(texts[i].dataSize + 1);
    check(vkGetPipelineExecutableInternalRepresentationsKHR(device, &info, &count, texts), "representations");
    for (uint32_t i = 0; i < count; i++)
        printf("== %s\n%.*s\n", texts[i].name, (int)texts[i].dataSize, (const char *)texts[i].pData);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: radv_capture SHADER.spv [--push BYTES] [--set BINDING:KIND,..] ..\n");
        return 1;
    }
    const char *sets[MAX_SETS];
    uint32_t set_count = 0, push = 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--push"))
            push = (uint32_t)atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--set") && set_count < MAX_SETS)
            sets[set_count++] = argv[i + 1];
    }

    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    check(vkCreateInstance(&instance_info, NULL, &instance), "vkCreateInstance");
    VkPhysicalDevice physical;
    uint32_t count = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (found != VK_INCOMPLETE)
        check(count ? found : VK_ERROR_INITIALIZATION_FAILED, "vkEnumeratePhysicalDevices");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);

    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, NULL, VK_TRUE};
    const char *extensions[] = {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, 0, 1, &priority};
    VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &executable,
                                      .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
                                      .enabledExtensionCount = 1, .ppEnabledExtensionNames = extensions};
    VkDevice device;
    check(vkCreateDevice(physical, &device_info, NULL, &device), "vkCreateDevice");

    size_t bytes;
    uint32_t *code = read_words(argv[1], &bytes);
    VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, NULL, 0, bytes, code};
    VkShaderModule module;
    check(vkCreateShaderModule(device, &module_info, NULL, &module), "vkCreateShaderModule");
    VkDescriptorSetLayout layouts[MAX_SETS];
    for (uint32_t i = 0; i < set_count; i++)
        layouts[i] = set_layout(device, sets[i]);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push};
    VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, NULL, 0, set_count, layouts,
                                              push ? 1 : 0, &range};
    VkPipelineLayout layout;
    check(vkCreatePipelineLayout(device, &layout_info, NULL, &layout), "vkCreatePipelineLayout");
    VkComputePipelineCreateInfo pipeline_info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR | VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module, .pName = "main"},
        .layout = layout,
    };
    VkPipeline pipeline;
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, NULL, &pipeline), "vkCreateComputePipelines");
    printf("== Device\n%s\n", properties.deviceName);
    print_executable(device, pipeline);
    return 0;
}
