/* A driver that fails in the way that FAKE names, as libcuda.so.1 and libnvidia-ml.so.1. */
#include <stdlib.h>
#include <string.h>

static int is(const char *name) { const char *fake = getenv("FAKE"); return fake && !strcmp(fake, name); }
static int launched;

int cuInit(unsigned f) { return is("none") ? 100 : is("mismatch") ? 803 : 0; }
int cuDriverGetVersion(int *v) { *v = is("old") ? 10020 : 12080; return 0; }
int cuGetErrorName(int code, const char **name) { *name = code == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR"; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strcpy(s, is("mig") ? "NVIDIA H100 MIG 1g.10gb" : "NVIDIA H100"); return 0; }
int cuDeviceGetPCIBusId(char *s, int n, int d) { strcpy(s, "0000:0a:00.0"); return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? (is("volta") ? 7 : 9) : a == 76 ? 0 : a == 16 ? 2 : 1 << 20; return 0; }
int cuDeviceTotalMem_v2(size_t *m, int d) { *m = (size_t)80 << 30; return 0; }
int cuCtxCreate_v2(void **c, unsigned f, int d) { return is("exclusive") ? 46 : 0; }
int cuMemGetInfo_v2(size_t *f, size_t *a) { *f = (size_t)200 << 20; *a = (size_t)81920 << 20; return 0; }
int cuMemAlloc_v2(unsigned long long *p, size_t n) { if (is("full") && n > 1 << 20) return 2; *p = (unsigned long long)malloc(n); return 0; }
int cuMemFree_v2(unsigned long long p) { free((void *)p); return 0; }
int cuMemAllocHost_v2(void **p, size_t n) { *p = malloc(n); return 0; }
int cuMemFreeHost(void *p) { free(p); return 0; }
int cuMemcpyHtoDAsync_v2(unsigned long long d, const void *h, size_t n, void *s) { memcpy((void *)d, h, n); return 0; }
int cuMemcpyDtoHAsync_v2(void *h, unsigned long long d, size_t n, void *s) { memcpy(h, (void *)d, n); return 0; }
int cuModuleLoadDataEx(void **m, const void *text, unsigned n, int *options, void **values) {
    if (is("ptx")) { strcpy(values[0], "\nptxas application ptx input, line 5; fatal : Unsupported .version 7.0\n"); return 222; }
    return 0;
}
int cuModuleGetFunction(void **f, void *m, const char *name) { *f = &launched; return 0; }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, void *s, void **p, void **x) { launched = 1; return 0; }
int cuStreamCreate(void **s, unsigned f) { return 0; }
int cuStreamSynchronize(void *s) { return launched && (is("lost") || is("fault")) ? 719 : 0; }
int cuEventCreate(void **e, unsigned f) { return 0; }
int cuEventRecord(void *e, void *s) { return 0; }
int cuEventSynchronize(void *e) { return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) { *ms = is("timer") ? 0 : 1; return 0; }

int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { strcpy(s, "580.1"); return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **h) { *h = &launched; return 0; }
int nvmlDeviceGetTemperature(void *h, unsigned k, unsigned *t) { *t = 40; return launched && is("lost") ? 15 : 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *e) { *e = 5000; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *h, unsigned long long *r) { *r = is("hot") ? 0x24 : is("capped") ? 4 : 1; return 0; }
int nvmlDeviceGetEccMode(void *h, unsigned *a, unsigned *b) { *a = 1; return 0; }
int nvmlDeviceGetMigMode(void *h, unsigned *a, unsigned *b) { return 3; }
int nvmlDeviceGetTotalEccErrors(void *h, unsigned k, unsigned c, unsigned long long *n) { *n = k; return 0; }
int nvmlDeviceGetRemappedRows(void *h, unsigned *a, unsigned *b, unsigned *c, unsigned *d) { *a = 1; *b = 2; return 0; }
#define NUMBER(name, value) int name(void *h, unsigned *v) { *v = value; return 0; }
#define CLOCK(name, value) int name(void *h, unsigned kind, unsigned *v) { *v = kind == 2 ? 2619 : value; return 0; }
CLOCK(nvmlDeviceGetClockInfo, 345)
CLOCK(nvmlDeviceGetMaxClockInfo, 1980)
CLOCK(nvmlDeviceGetApplicationsClock, 1980)
NUMBER(nvmlDeviceGetPowerUsage, 70000)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700000)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, 1)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, 5)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)
NUMBER(nvmlDeviceGetPersistenceMode, 1)
