/* NVML's calls on GPUs and MIG devices, as all drivers have them. */
#include "machine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void) {
    begin();
    if (!machine.init_error) {
        inits++;
        tell_state();
    }
    return leave(machine.init_error);
}

int nvmlShutdown(void) {
    begin();
    if (inits == 0) return leave(1);
    inits--;
    tell_state();
    return leave(0);
}

const char *nvmlErrorString(int code) {
    return code == 15 ? "GPU is lost" : code == 9 ? "Driver Not Loaded" : code == 18 ? "Driver/library version mismatch" : "Error";
}

int nvmlSystemGetDriverVersion(char *version, unsigned length) {
    begin();
    if (inits == 0) return leave(1);
    snprintf(version, length, "%s", machine.driver);
    return leave(0);
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    begin();
    if (inits == 0) return leave(1);
    if (machine.init_error) return leave(machine.init_error);
    *count = machine.gpu_count;
    return leave(0);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
    void *device = (void *)(((uintptr_t)index + 1) << 16);
    ENTER
    *handle = device;
    return leave(0);
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
    ENTER
    instance_t *mig = mig_of(device);
    snprintf(uuid, length, "%s", mig ? mig->uuid : g->uuid);
    return leave(0);
}

int nvmlDeviceGetName(void *device, char *name, unsigned length) {
    ENTER
    snprintf(name, length, "%s", g->name);
    return leave(0);
}

int nvmlDeviceGetPciInfo_v3(void *device, pci_info_t *pci) {
    ENTER
    memset(pci, 0, sizeof *pci);
    snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%.15s", strlen(g->pci) > 4 ? g->pci + 4 : g->pci);
    snprintf(pci->bus_id, sizeof pci->bus_id, "%s", g->pci);
    return leave(0);
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    ENTER
    *major = g->major;
    *minor = g->minor;
    return leave(0);
}

int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory) {
    ENTER
    instance_t *mig = mig_of(device);
    memory->total = mig ? mig->total : g->total;
    memory->used = mig ? mig->used : g->used + g->reserved;
    memory->free = memory->total - memory->used;
    return leave(0);
}

int nvmlDeviceGetUtilizationRates(void *device, utilization_t *rates) {
    ENTER
    NEED(g->has_util && !(g->has_mig && g->mig[0]) && !mig_of(device))
    rates->gpu = g->util[0];
    rates->memory = g->util[1];
    return leave(0);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    ENTER
    NEED(g->has_power)
    *milliwatts = g->power;
    return leave(0);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
    ENTER
    NEED(g->has_energy)
    *millijoules = g->energy;
    return leave(0);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    ENTER
    NEED(sensor == 0)
    *celsius = g->temperature;
    return leave(0);
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *megahertz) {
    ENTER
    NEED(g->has_clocks && (type == 1 || type == 2))
    *megahertz = g->clock[type - 1];
    return leave(0);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
    ENTER
    NEED(g->has_reasons)
    *reasons = g->reasons;
    return leave(0);
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *count) {
    ENTER
    NEED(g->has_ecc && counter == 0)
    *count = g->ecc[type != 0];
    return leave(0);
}

int nvmlDeviceGetFieldValues(void *device, int count, field_value_t *values) {
    ENTER
    for (int i = 0; i < count; i++) {
        field_value_t *v = &values[i];
        int link = v->field_id == 138 || v->field_id == 139;
        int known = v->field_id == 82 ? g->has_memory_temperature : link && v->scope_id == 0xFFFFFFFFu && g->has_nvlink;
        v->code = known ? 0 : 3;
        v->value_type = link ? 3 : 1;
        if (known && link) v->value.ull = g->nvlink[v->field_id - 138];
        else if (known) v->value.ui = g->memory_temperature;
    }
    return leave(0);
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending) {
    ENTER
    NEED(g->has_mig)
    *current = g->mig[0];
    *pending = g->mig[1];
    return leave(0);
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count) {
    ENTER
    *count = g->has_mig && g->mig[0] ? 7 : 0;
    return leave(0);
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **mig) {
    ENTER
    unsigned found = 0;
    NEED(g->has_mig && g->mig[0])
    for (unsigned i = 0; i < g->instance_count; i++) {
        if (g->instances[i].ci >= 0 && found++ == index) {
            *mig = (char *)device + i + 1;
            return leave(0);
        }
    }
    return leave(6);
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id) {
    ENTER
    NEED(mig_of(device))
    *id = mig_of(device)->gi;
    return leave(0);
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned *id) {
    ENTER
    NEED(mig_of(device))
    *id = mig_of(device)->ci;
    return leave(0);
}

int nvmlDeviceGetGpuInstanceById(void *device, unsigned id, void **instance) {
    ENTER
    for (unsigned i = 0; i < g->instance_count; i++) {
        if (g->instances[i].gi == id) {
            *instance = (char *)device + 0x8000 + id;
            return leave(0);
        }
    }
    return leave(6);
}

int nvmlGpuInstanceGetInfo(void *device, gpu_instance_info_t *info) {
    ENTER
    unsigned id = (uintptr_t)device & 0x7FFF;
    for (unsigned i = 0; i < g->instance_count; i++) {
        if (g->instances[i].gi == id) {
            info->device = (void *)((uintptr_t)device & ~(uintptr_t)0xFFFF);
            info->id = id;
            info->profile_id = g->instances[i].profile;
            info->placement.start = g->instances[i].start;
            info->placement.size = g->instances[i].size;
            return leave(0);
        }
    }
    return leave(6);
}

int nvmlDeviceGetGpuInstanceProfileInfo(void *device, unsigned slot, profile_info_t *info) {
    ENTER
    for (unsigned i = 0; g->has_mig && g->mig[0] && i < g->profile_count; i++) {
        profile_t *p = &g->profiles[i];
        if (p->slot == slot) {
            *info = (profile_info_t){.id = p->id, .slice_count = p->slices, .instance_count = p->most,
                                     .multiprocessor_count = p->sms, .memory_size_mb = p->megabytes};
            return leave(0);
        }
    }
    return leave(3);
}

static int running(const char *function, void *device, unsigned *count, char *infos, int versioned) {
    gpu_t *g;
    int entered = enter(function, device, &g);
    if (entered) return entered;
    unsigned room = *count;
    size_t size = versioned ? sizeof(process_v2_t) : sizeof(process_v1_t);
    *count = g->process_count;
    if (room < g->process_count) return leave(7);
    for (unsigned i = 0; i < g->process_count; i++) {
        process_v2_t p = {g->processes[i].pid, g->processes[i].bytes, g->processes[i].gi, 0};
        memcpy(infos + i * size, &p, size);
    }
    return leave(0);
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *infos) { return running(__func__, device, count, infos, 0); }

#ifndef OLD_DRIVER
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *infos) { return running(__func__, device, count, infos, 1); }
#endif
