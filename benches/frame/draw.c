// Draws a frame again and again with a Vulkan driver, and prints how many milliseconds the fastest took.
//
//     draw VERTEX.spv FRAGMENT.spv WIDTH,HEIGHT FRAMES VERTICES WORDS [--indices FILE] [--push FILE] [--depth] [--out FILE]
//
// VERTICES has WORDS words a vertex, four for each of the vertex program's inputs; FILEs are without a head. A frame is cleared and
// drawn into four floats a pixel, which --out writes. The time is from the submission to the fence.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#define COLOUR VK_FORMAT_R32G32B32A32_SFLOAT
#define DEPTH VK_FORMAT_D32_SFLOAT
#define CHECK(call) check(call, #call)

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;

static void fail(const char *what) { fprintf(stderr, "draw: %s\n", what); exit(1); }
static void check(VkResult result, const char *call)
{
    if (result != VK_SUCCESS) { fprintf(stderr, "draw: %.60s: VkResult %d\n", call, result); exit(1); }
}

struct bytes { char *at; size_t size; };
static struct bytes read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) { perror(path); exit(1); }
    fseek(f, 0, SEEK_END);
    struct bytes b = {NULL, (size_t)ftell(f)};
    rewind(f);
    b.at = malloc(b.size + 1);
    if (!b.at || fread(b.at, 1, b.size, f) != b.size) fail("a file cannot be read");
    fclose(f);
    return b;
}

static void open_device(void)
{
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    CHECK(vkCreateInstance(&info, NULL, &instance));
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (result < 0 || !count) fail("no Vulkan device");
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queues};
    CHECK(vkCreateDevice(physical, &create, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkCommandPoolCreateInfo pools = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    CHECK(vkCreateCommandPool(device, &pools, NULL, &pool));
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    printf("%s\n", properties.deviceName);
}

static VkDeviceMemory memory(VkMemoryRequirements needs)
{
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < types.memoryTypeCount; i++)
        if ((needs.memoryTypeBits >> i & 1) && (types.memoryTypes[i].propertyFlags & want) == want) {
            VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size, .memoryTypeIndex = i};
            VkDeviceMemory m;
            CHECK(vkAllocateMemory(device, &info, NULL, &m));
            return m;
        }
    fail("no memory that the host sees: only drivers for CPUs are measured");
    return VK_NULL_HANDLE;
}

struct buffer { VkBuffer buffer; void *data; };
static struct buffer make_buffer(size_t size, VkBufferUsageFlags usage, const void *from)
{
    struct buffer b;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    CHECK(vkCreateBuffer(device, &info, NULL, &b.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, b.buffer, &needs);
    VkDeviceMemory m = memory(needs);
    CHECK(vkBindBufferMemory(device, b.buffer, m, 0));
    CHECK(vkMapMemory(device, m, 0, VK_WHOLE_SIZE, 0, &b.data));
    if (from) memcpy(b.data, from, size);
    return b;
}

static VkExtent2D size;
struct image { VkImage image; VkImageView view; };
static struct image make_image(VkFormat format, VkImageUsageFlags usage, VkImageAspectFlags aspect)
{
    struct image i;
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D, .format = format,
        .extent = {size.width, size.height, 1}, .mipLevels = 1, .arrayLayers = 1, .samples = VK_SAMPLE_COUNT_1_BIT, .usage = usage};
    CHECK(vkCreateImage(device, &info, NULL, &i.image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, i.image, &needs);
    CHECK(vkBindImageMemory(device, i.image, memory(needs), 0));
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = i.image, .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format, .subresourceRange = {aspect, 0, 1, 0, 1}};
    CHECK(vkCreateImageView(device, &view, NULL, &i.view));
    return i;
}

static VkRenderPass make_pass(int depth)
{
    VkAttachmentDescription attachments[2] = {
        {.format = COLOUR, .samples = 1, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
         .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
        {.format = DEPTH, .samples = 1, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL}};
    VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL}, z = {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &colour, .pDepthStencilAttachment = depth ? &z : NULL};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, .attachmentCount = depth ? 2 : 1,
        .pAttachments = attachments, .subpassCount = 1, .pSubpasses = &subpass};
    VkRenderPass pass;
    CHECK(vkCreateRenderPass(device, &info, NULL, &pass));
    return pass;
}

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which, const char *path)
{
    struct bytes code = read_file(path);
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code.size, .pCode = (void *)code.at};
    VkPipelineShaderStageCreateInfo s = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = which, .pName = "main"};
    CHECK(vkCreateShaderModule(device, &info, NULL, &s.module));
    return s;
}

static VkPipeline make_pipeline(const char *vertex, const char *fragment, uint32_t words, int depth, VkRenderPass pass, VkPipelineLayout layout)
{
    VkPipelineShaderStageCreateInfo stages[2] = {stage(VK_SHADER_STAGE_VERTEX_BIT, vertex), stage(VK_SHADER_STAGE_FRAGMENT_BIT, fragment)};
    VkVertexInputBindingDescription binding = {0, 4 * words, VK_VERTEX_INPUT_RATE_VERTEX};
    VkVertexInputAttributeDescription attributes[16];
    for (uint32_t i = 0; i < words / 4; i++) attributes[i] = (VkVertexInputAttributeDescription){i, 0, COLOUR, 16 * i};
    VkPipelineVertexInputStateCreateInfo input = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1, .pVertexBindingDescriptions = &binding, .vertexAttributeDescriptionCount = words / 4,
        .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {0, 0, (float)size.width, (float)size.height, 0, 1};
    VkRect2D scissor = {{0, 0}, size};
    VkPipelineViewportStateCreateInfo views = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1,
        .pViewports = &viewport, .scissorCount = 1, .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo raster = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, .rasterizationSamples = 1};
    VkPipelineDepthStencilStateCreateInfo z = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = depth, .depthWriteEnable = depth, .depthCompareOp = VK_COMPARE_OP_LESS};
    VkPipelineColorBlendAttachmentState all = {.colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, .attachmentCount = 1, .pAttachments = &all};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, .stageCount = 2, .pStages = stages,
        .pVertexInputState = &input, .pInputAssemblyState = &assembly, .pViewportState = &views, .pRasterizationState = &raster,
        .pMultisampleState = &samples, .pDepthStencilState = &z, .pColorBlendState = &blend, .layout = layout, .renderPass = pass};
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    return pipeline;
}

static VkCommandBuffer begin(VkCommandBufferUsageFlags usage)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &info, &commands));
    VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = usage};
    CHECK(vkBeginCommandBuffer(commands, &start));
    return commands;
}

// In milliseconds.
static double submit(VkCommandBuffer commands)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    CHECK(vkCreateFence(device, &info, NULL, &fence));
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    VkSubmitInfo work = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(queue, 1, &work, fence));
    CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
    clock_gettime(CLOCK_MONOTONIC, &to);
    vkDestroyFence(device, fence, NULL);
    return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

static void write_picture(VkImage image, const char *path)
{
    size_t bytes = (size_t)16 * size.width * size.height;
    struct buffer b = make_buffer(bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT, NULL);
    VkCommandBuffer commands = begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, .imageExtent = {size.width, size.height, 1}};
    vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, b.buffer, 1, &copy);
    CHECK(vkEndCommandBuffer(commands));
    submit(commands);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b.data, 1, bytes, f) != bytes || fclose(f)) fail("the picture cannot be written");
}

int main(int argc, char **argv)
{
    if (argc < 7 || sscanf(argv[3], "%u,%u", &size.width, &size.height) != 2) fail("expected the arguments that the source names");
    int frames = atoi(argv[4]), depth = 0;
    uint32_t words = (uint32_t)atoi(argv[6]);
    if (words < 4 || words > 64 || words % 4) fail("expected 4 to 64 words a vertex, fours of them");
    struct bytes vertices = read_file(argv[5]), indices = {0}, push = {0};
    const char *out = NULL;
    for (int i = 7; i < argc; i++) {
        if (!strcmp(argv[i], "--depth")) depth = 1;
        else if (i + 1 == argc) fail("an option lacks its file");
        else if (!strcmp(argv[i], "--indices")) indices = read_file(argv[++i]);
        else if (!strcmp(argv[i], "--push")) push = read_file(argv[++i]);
        else if (!strcmp(argv[i], "--out")) out = argv[++i];
        else fail("an option that is none");
    }
    open_device();
    VkPushConstantRange range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, (uint32_t)push.size};
    VkPipelineLayoutCreateInfo layouts = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .pushConstantRangeCount = push.size ? 1 : 0, .pPushConstantRanges = &range};
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &layouts, NULL, &layout));
    VkRenderPass pass = make_pass(depth);
    VkPipeline pipeline = make_pipeline(argv[1], argv[2], words, depth, pass, layout);
    struct image colour = make_image(COLOUR, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, VK_IMAGE_ASPECT_COLOR_BIT);
    struct image z = make_image(DEPTH, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT);
    VkImageView views[2] = {colour.view, z.view};
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO, .renderPass = pass, .attachmentCount = depth ? 2 : 1,
        .pAttachments = views, .width = size.width, .height = size.height, .layers = 1};
    VkFramebuffer framebuffer;
    CHECK(vkCreateFramebuffer(device, &info, NULL, &framebuffer));
    struct buffer corners = make_buffer(vertices.size, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, vertices.at);

    VkCommandBuffer commands = begin(0);
    VkClearValue clear[2] = {{.color = {{0}}}, {.depthStencil = {1, 0}}};
    VkRenderPassBeginInfo start = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, .renderPass = pass, .framebuffer = framebuffer,
        .renderArea = {{0, 0}, size}, .clearValueCount = depth ? 2 : 1, .pClearValues = clear};
    vkCmdBeginRenderPass(commands, &start, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindVertexBuffers(commands, 0, 1, &corners.buffer, &(VkDeviceSize){0});
    if (push.size) vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, (uint32_t)push.size, push.at);
    if (indices.size) {
        struct buffer b = make_buffer(indices.size, VK_BUFFER_USAGE_INDEX_BUFFER_BIT, indices.at);
        vkCmdBindIndexBuffer(commands, b.buffer, 0, VK_INDEX_TYPE_UINT32);
        vkCmdDrawIndexed(commands, (uint32_t)(indices.size / 4), 1, 0, 0, 0);
    } else {
        vkCmdDraw(commands, (uint32_t)(vertices.size / 4 / words), 1, 0, 0);
    }
    vkCmdEndRenderPass(commands);
    CHECK(vkEndCommandBuffer(commands));
    double best = submit(commands);
    for (int i = 1; i < frames; i++) {
        double time = submit(commands);
        if (time < best) best = time;
    }
    printf("%.3f ms\n", best);
    if (out) write_picture(colour.image, out);
    return 0;
}
