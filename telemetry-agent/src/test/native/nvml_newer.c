/* NVML's calls that drivers before R470 do not have: newer versions of others, and GPM. */
#include "machine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvmlDeviceGetGpuInstanceProfileInfo(void *device, unsigned slot, profile_info_t *info);

#ifndef OLD_DRIVER
int nvmlDeviceGetMemoryInfo_v2(void *device, memory_v2_t *memory) {
    ENTER
    instance_t *mig = mig_of(device);
    if (memory->version != (sizeof *memory | 2 << 24)) return leave(25);
    memory->total = mig ? mig->total : g->total;
    memory->reserved = mig ? 0 : g->reserved;
    memory->used = mig ? mig->used : g->used;
    memory->free = memory->total - memory->reserved - memory->used;
    return leave(0);
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons) {
    ENTER
    NEED(g->has_reasons)
    *reasons = g->reasons;
    return leave(0);
}

int nvmlDeviceGetGpuInstanceProfileInfoV(void *device, unsigned slot, profile_info_v2_t *info) {
    profile_info_t plain;
    if (info->version != (sizeof *info | 2 << 24)) return 25;
    int code = nvmlDeviceGetGpuInstanceProfileInfo(device, slot, &plain);
    if (code) return code;
    ENTER
    memset(info->name, 0, sizeof info->name);
    for (unsigned i = 0; i < g->profile_count; i++)
        if (g->profiles[i].id == plain.id) snprintf(info->name, sizeof info->name, "MIG %.90s", g->profiles[i].name);
    info->id = plain.id;
    info->slice_count = plain.slice_count;
    info->instance_count = plain.instance_count;
    info->multiprocessor_count = plain.multiprocessor_count;
    info->memory_size_mb = plain.memory_size_mb;
    return leave(0);
}

int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void *device, unsigned id, placement_t *placements, unsigned *count) {
    ENTER
    for (unsigned i = 0; i < g->profile_count; i++) {
        profile_t *p = &g->profiles[i];
        if (p->id != id) continue;
        for (unsigned s = 0; placements && s < p->start_count; s++) placements[s] = (placement_t){p->starts[s], p->size};
        *count = p->start_count;
        return leave(0);
    }
    return leave(3);
}

static unsigned sample_number;

typedef struct {
    char uuid[96];
    unsigned number;
    activity_t activity;
} sample_t;

int nvmlGpmQueryDeviceSupport(void *device, gpm_support_t *support) {
    ENTER
    if (support->version != 1) return leave(25);
    support->supported = g->major >= 9;
    return leave(0);
}

int nvmlGpmSampleAlloc(sample_t **sample) {
    begin();
    *sample = calloc(1, sizeof **sample);
    samples++;
    tell_state();
    return leave(0);
}

int nvmlGpmSampleFree(sample_t *sample) {
    begin();
    free(sample);
    samples--;
    tell_state();
    return leave(0);
}

int nvmlGpmSampleGet(void *device, sample_t *sample) {
    ENTER
    NEED(g->major >= 9 && !(g->has_mig && g->mig[0]) && g->activity.known > 0)
    *sample = (sample_t){.number = ++sample_number, .activity = g->activity};
    return leave(0);
}

int nvmlGpmMigSampleGet(void *device, unsigned gi, sample_t *sample) {
    ENTER
    NEED(g->major >= 9 && g->has_mig && g->mig[0])
    for (unsigned i = 0; i < g->instance_count; i++) {
        instance_t *instance = &g->instances[i];
        if (instance->gi == gi && instance->activity.known > 0) {
            *sample = (sample_t){.number = ++sample_number, .activity = instance->activity};
            memcpy(sample->uuid, instance->uuid, sizeof sample->uuid);
            return leave(0);
        }
    }
    return leave(2);
}

/* Samples that do not belong together make 99 of everything, as a trap: hardware would make something up, too. */
int nvmlGpmMetricsGet(gpm_metrics_get_t *get) {
    begin();
    sample_t *first = get->sample1, *second = get->sample2;
    if (get->version != 1) return leave(25);
    int trap = strcmp(first->uuid, second->uuid) || first->number >= second->number || first->number == 0;
    for (unsigned i = 0; i < get->count; i++) {
        gpm_metric_t *m = &get->metrics[i];
        activity_t *a = &second->activity;
        double known[] = {a->graphics, a->sm, a->tensor, a->dram, a->pcie_tx, a->pcie_rx, a->nvlink_tx, a->nvlink_rx};
        unsigned ids[] = {1, 2, 5, 10, 20, 21, 61, 60};
        m->code = 3;
        for (int k = 0; k < 8 && k < a->known; k++)
            if (ids[k] == m->id) {
                m->code = 0;
                m->value = trap ? 99 : known[k];
            }
    }
    return leave(0);
}
#endif
