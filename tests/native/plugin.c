// A plugin for executables: the function that plugin.mlir imports, and the tables by which IREE's
// runtime and ours find it (IREE's executable_plugin.h, version 0.1). It needs no other library, so
// it can be loaded as an embedded ELF file, too.
#include <stddef.h>
#include <stdint.h>

struct header {
  uint32_t version;
  const char *name, *description;
  uint32_t features, sanitizer;
  uint64_t reserved[8];
};
struct allocator {
  void *self;
  size_t (*control)(void *self, int command, const size_t *length, void **memory);
};
struct resolution {
  size_t count;
  const char *const *names;
  void **functions;
  void **contexts;
};
struct plugin {
  const struct header *header;
  size_t (*load)(const struct allocator *, size_t, const void *, void **);
  void (*unload)(void *);
  size_t (*resolve)(void *, const struct resolution *, uint32_t *);
};

struct parameters {
  const float *in;
  size_t in_offset;
  float *out;
  size_t out_offset;
  size_t count, group;
  uint32_t processor;
};

// Multiplies four elements by the factor in its context. A negative one is a failure, and 1000
// makes it write where nothing is.
static int scale(void *all, void *context, void *reserved) {
  const struct parameters *it = all;
  (void)reserved;
  for (size_t i = it->group * 4; i < it->count && i < it->group * 4 + 4; ++i) {
    float value = it->in[it->in_offset + i];
    if (value < 0) return 3;
    if (value == 1000) *(volatile int *)16 = 1;
    it->out[it->out_offset + i] = value * *(const float *)context;
  }
  return 0;
}

static size_t load(const struct allocator *memory, size_t count, const void *pairs, void **self) {
  const size_t length = sizeof(float);
  (void)count;
  (void)pairs;
  size_t status = memory->control(memory->self, 0, &length, self);
  if (status == 0) *(float *)*self = 2.5f;
  return status;
}

static void unload(void *self) { (void)self; }

static int equal(const char *a, const char *b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

static size_t resolve(void *self, const struct resolution *wanted, uint32_t *missing) {
  size_t status = 0;
  *missing = 0;
  for (size_t i = 0; i < wanted->count; ++i) {
    const char *name = wanted->names[i];
    if (wanted->functions[i]) continue;
    if (equal(name + (*name == '?'), "plugin_scale")) {
      wanted->functions[i] = (void *)scale;
      wanted->contexts[i] = self;
    } else if (*name == '?') {
      *missing = 1;
    } else {
      status = 5;
    }
  }
  return status;
}

static const struct header header = {1, "scale", "a plugin of the tests", 0, 0, {0}};
static const struct plugin plugin = {&header, load, unload, resolve};

__attribute__((visibility("default"))) const struct plugin *
iree_hal_executable_plugin_query(uint32_t most, void *reserved) {
  (void)reserved;
  return most >= 1 ? &plugin : NULL;
}
