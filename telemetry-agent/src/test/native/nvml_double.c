/*
 * A library with NVML's ABI that plays machines: a double for tests, for computers without an NVIDIA GPU.
 *
 * What it plays stands in the file "machine" beside it, or in the file that NVML_DOUBLE_MACHINE names; it is read again when it
 * changes, so a test changes the machine under way. MachineScript.java writes such files and says what their lines mean. How
 * often the library was initialised, and what of it was left open, stands in the file "state" beside it after each change.
 *
 * Built with -DOLD_DRIVER it lacks the symbols that drivers before R470 do not have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "nvml_layouts.h"

enum { MOST_GPUS = 16, MOST_INSTANCES = 32, MOST_PROFILES = 24, MOST_PROCESSES = 32, MOST_ERRORS = 16, MOST_XIDS = 64 };

typedef struct {
    double graphics, sm, tensor, dram, pcie_tx, pcie_rx, nvlink_tx, nvlink_rx;
    int known;
} activity_t;

typedef struct {
    unsigned slot, id, slices, most, sms, megabytes, size, starts[8], start_count;
    char name[96];
} profile_t;

typedef struct {
    unsigned gi, profile, start, size;
    int ci;
    char uuid[96];
    unsigned long long total, used;
    activity_t activity;
} instance_t;

typedef struct {
    unsigned pid, gi;
    unsigned long long bytes;
} process_t;

typedef struct {
    char function[64];
    int code, sleep_ms;
} override_t;

typedef struct {
    char uuid[96], name[96], pci[32];
    int major, minor, lost;
    unsigned long long total, reserved, used, energy, reasons, ecc[2], nvlink[2];
    int util[2], power, temperature, memory_temperature, clock[2], mig[2];
    int has_util, has_power, has_energy, has_reasons, has_ecc, has_nvlink, has_memory_temperature, has_clocks, has_mig;
    activity_t activity;
    unsigned instance_count, profile_count, process_count, override_count;
    instance_t instances[MOST_INSTANCES];
    profile_t profiles[MOST_PROFILES];
    process_t processes[MOST_PROCESSES];
    override_t overrides[MOST_ERRORS];
} gpu_t;

typedef struct {
    unsigned number, gpu, gi;
    unsigned long long xid;
} xid_t;

static struct {
    char driver[80];
    int init_error, sleep_ms;
    unsigned gpu_count, xid_count;
    gpu_t gpus[MOST_GPUS];
    xid_t xids[MOST_XIDS];
} machine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char directory[4096];
static struct stat seen;
static int inits, sets, samples;
#ifndef OLD_DRIVER
static unsigned sample_number;
#endif

static void locate(void) {
    Dl_info info;
    if (!directory[0] && dladdr((void *)locate, &info)) {
        snprintf(directory, sizeof directory, "%s", info.dli_fname);
        char *slash = strrchr(directory, '/');
        if (slash) *slash = 0;
    }
}

static void tell_state(void) {
    char path[4200], temporary[4210];
    locate();
    snprintf(path, sizeof path, "%s/state", directory);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (file) {
        fprintf(file, "inits %d sets %d samples %d\n", inits, sets, samples);
        fclose(file);
        rename(temporary, path);
    }
}

static void read_activity(const char *text, activity_t *a) {
    a->known = sscanf(text, "%lf %lf %lf %lf %lf %lf %lf %lf", &a->graphics, &a->sm, &a->tensor, &a->dram, &a->pcie_tx, &a->pcie_rx,
                      &a->nvlink_tx, &a->nvlink_rx);
}

static void read_profile(const char *text, gpu_t *gpu) {
    profile_t *p = &gpu->profiles[gpu->profile_count++];
    int used = 0;
    sscanf(text, "%u %u %u %u %u %u %u %95s%n", &p->slot, &p->id, &p->slices, &p->most, &p->sms, &p->megabytes, &p->size, p->name, &used);
    for (int more = 0; sscanf(text + used, "%u%n", &p->starts[p->start_count], &more) == 1; used += more) p->start_count++;
}

static void read_instance(const char *text, gpu_t *gpu) {
    instance_t *i = &gpu->instances[gpu->instance_count++];
    int used = 0;
    sscanf(text, "%u %d %u %u %u %95s %llu %llu%n", &i->gi, &i->ci, &i->profile, &i->start, &i->size, i->uuid, &i->total, &i->used, &used);
    read_activity(text + used, &i->activity);
    if (i->activity.known < 0) i->activity.known = 0;
}

static void read_gpu_line(const char *word, const char *rest, gpu_t *g) {
    if (!strcmp(word, "name")) snprintf(g->name, sizeof g->name, "%s", rest);
    else if (!strcmp(word, "pci")) snprintf(g->pci, sizeof g->pci, "%s", rest);
    else if (!strcmp(word, "capability")) sscanf(rest, "%d %d", &g->major, &g->minor);
    else if (!strcmp(word, "memory")) sscanf(rest, "%llu %llu %llu", &g->total, &g->reserved, &g->used);
    else if (!strcmp(word, "utilization")) g->has_util = sscanf(rest, "%d %d", &g->util[0], &g->util[1]);
    else if (!strcmp(word, "power")) g->has_power = sscanf(rest, "%d", &g->power);
    else if (!strcmp(word, "energy")) g->has_energy = sscanf(rest, "%llu", &g->energy);
    else if (!strcmp(word, "temperature")) sscanf(rest, "%d", &g->temperature);
    else if (!strcmp(word, "memoryTemperature")) g->has_memory_temperature = sscanf(rest, "%d", &g->memory_temperature);
    else if (!strcmp(word, "clocks")) g->has_clocks = sscanf(rest, "%d %d", &g->clock[0], &g->clock[1]);
    else if (!strcmp(word, "reasons")) g->has_reasons = sscanf(rest, "%llx", &g->reasons);
    else if (!strcmp(word, "ecc")) g->has_ecc = sscanf(rest, "%llu %llu", &g->ecc[0], &g->ecc[1]);
    else if (!strcmp(word, "nvlink")) g->has_nvlink = sscanf(rest, "%llu %llu", &g->nvlink[0], &g->nvlink[1]);
    else if (!strcmp(word, "mig")) g->has_mig = sscanf(rest, "%d %d", &g->mig[0], &g->mig[1]);
    else if (!strcmp(word, "gpm")) read_activity(rest, &g->activity);
    else if (!strcmp(word, "lost")) g->lost = 1;
    else if (!strcmp(word, "profile")) read_profile(rest, g);
    else if (!strcmp(word, "instance")) read_instance(rest, g);
    else if (!strcmp(word, "process")) {
        process_t *p = &g->processes[g->process_count++];
        sscanf(rest, "%u %llu %u", &p->pid, &p->bytes, &p->gi);
    } else if (!strcmp(word, "error")) {
        override_t *o = &g->overrides[g->override_count++];
        sscanf(rest, "%63s %d", o->function, &o->code);
    }
}

/* Reads the machine again where its file is another one than before; a file that is not there is no driver. */
static void refresh(void) {
    char path[4200];
    const char *named = getenv("NVML_DOUBLE_MACHINE");
    locate();
    snprintf(path, sizeof path, named ? "%s" : "%s/machine", named ? named : directory);
    struct stat now;
    if (stat(path, &now) != 0) {
        memset(&machine, 0, sizeof machine);
        memset(&seen, 0, sizeof seen);
        machine.init_error = 9;
        return;
    }
    if (now.st_ino == seen.st_ino && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec && now.st_mtim.tv_sec == seen.st_mtim.tv_sec) return;
    seen = now;
    memset(&machine, 0, sizeof machine);
    FILE *file = fopen(path, "r");
    char line[1024];
    gpu_t *gpu = NULL;
    while (file && fgets(line, sizeof line, file)) {
        char word[64] = "";
        int used = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%63s %n", word, &used) != 1) continue;
        const char *rest = line + used;
        if (!strcmp(word, "driver")) snprintf(machine.driver, sizeof machine.driver, "%s", rest);
        else if (!strcmp(word, "initError")) machine.init_error = atoi(rest);
        else if (!strcmp(word, "sleep")) machine.sleep_ms = atoi(rest);
        else if (!strcmp(word, "gpu")) {
            gpu = &machine.gpus[machine.gpu_count++];
            snprintf(gpu->uuid, sizeof gpu->uuid, "%s", rest);
        } else if (!strcmp(word, "xid")) {
            xid_t *x = &machine.xids[machine.xid_count++];
            x->gi = 0xFFFFFFFFu;
            sscanf(rest, "%u %u %llu %u", &x->number, &x->gpu, &x->xid, &x->gi);
        } else if (gpu) read_gpu_line(word, rest, gpu);
    }
    if (file) fclose(file);
}

static void nap(int milliseconds) {
    struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    nanosleep(&time, NULL);
}

/* Handles are numbers: a GPU's is 0x10000 * (index + 1), its MIG device's that plus its line + 1, its instance's plus 0x8000 + id. */
static gpu_t *gpu_of(void *handle) {
    uintptr_t number = (uintptr_t)handle >> 16;
    return number >= 1 && number <= machine.gpu_count ? &machine.gpus[number - 1] : NULL;
}

static instance_t *mig_of(void *handle) {
    gpu_t *gpu = gpu_of(handle);
    uintptr_t line = (uintptr_t)handle & 0x7FFF;
    return gpu && !((uintptr_t)handle & 0x8000) && line >= 1 && line <= gpu->instance_count ? &gpu->instances[line - 1] : NULL;
}

/* What every call on a device begins with; leaves the lock taken where it answers 0. */
static int enter(const char *function, void *handle, gpu_t **gpu) {
    pthread_mutex_lock(&lock);
    refresh();
    int code = 0;
    *gpu = gpu_of(handle);
    if (inits == 0) code = 1;
    else if (machine.init_error) code = machine.init_error;
    else if (!*gpu) code = 2;
    else if ((*gpu)->lost) code = 15;
    for (unsigned i = 0; code == 0 && i < (*gpu)->override_count; i++)
        if (!strcmp((*gpu)->overrides[i].function, function)) code = (*gpu)->overrides[i].code;
    int sleep = machine.sleep_ms;
    if (code || sleep) pthread_mutex_unlock(&lock);
    if (!code && sleep) {
        nap(sleep);
        pthread_mutex_lock(&lock);
    }
    return code;
}

static int leave(int code) {
    pthread_mutex_unlock(&lock);
    return code;
}

#define ENTER                                        \
    gpu_t *g;                                        \
    int entered = enter(__func__, device, &g);       \
    if (entered) return entered;
#define NEED(condition)                              \
    if (!(condition)) return leave(3);

int nvmlInit_v2(void) {
    pthread_mutex_lock(&lock);
    refresh();
    if (!machine.init_error) {
        inits++;
        tell_state();
    }
    return leave(machine.init_error);
}

int nvmlShutdown(void) {
    pthread_mutex_lock(&lock);
    if (inits == 0) return leave(1);
    inits--;
    tell_state();
    return leave(0);
}

const char *nvmlErrorString(int code) {
    return code == 15 ? "GPU is lost" : code == 9 ? "Driver Not Loaded" : code == 18 ? "Driver/library version mismatch" : "Error";
}

int nvmlSystemGetDriverVersion(char *version, unsigned length) {
    pthread_mutex_lock(&lock);
    refresh();
    if (inits == 0) return leave(1);
    snprintf(version, length, "%s", machine.driver);
    return leave(0);
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    pthread_mutex_lock(&lock);
    refresh();
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

int nvmlEventSetCreate(void **set) {
    pthread_mutex_lock(&lock);
    refresh();
    if (inits == 0) return leave(1);
    event_set_t *made = calloc(1, sizeof *made);
    for (unsigned i = 0; i < machine.xid_count; i++)
        if (machine.xids[i].number > made->last) made->last = machine.xids[i].number;
    *set = made;
    sets++;
    tell_state();
    return leave(0);
}

int nvmlEventSetFree(event_set_t *set) {
    pthread_mutex_lock(&lock);
    free(set);
    sets--;
    tell_state();
    return leave(0);
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, event_set_t *set) {
    ENTER
    NEED(types == 8)
    set->registered |= 1u << (((uintptr_t)device >> 16) - 1);
    return leave(0);
}

static int next_event(event_set_t *set, event_data_t *data) {
    for (unsigned i = 0; i < machine.xid_count; i++) {
        xid_t *x = &machine.xids[i];
        if (x->number > set->last && (set->registered >> x->gpu & 1)) {
            set->last = x->number;
            data->device = (void *)(((uintptr_t)x->gpu + 1) << 16);
            data->type = 8;
            data->data = x->xid;
            data->gpu_instance = x->gi;
            data->compute_instance = x->gi == 0xFFFFFFFFu ? x->gi : 0;
            return 1;
        }
    }
    return 0;
}

int nvmlEventSetWait(event_set_t *set, event_data_t *data, unsigned timeout) {
    for (unsigned waited = 0;; waited += 5) {
        pthread_mutex_lock(&lock);
        refresh();
        if (inits == 0) return leave(1);
        if (next_event(set, data)) return leave(0);
        pthread_mutex_unlock(&lock);
        if (waited >= timeout) return 10;
        nap(5);
    }
}

#ifndef OLD_DRIVER
int nvmlEventSetWait_v2(event_set_t *set, event_data_t *data, unsigned timeout) { return nvmlEventSetWait(set, data, timeout); }

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *infos) { return running(__func__, device, count, infos, 1); }

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
    pthread_mutex_lock(&lock);
    *sample = calloc(1, sizeof **sample);
    samples++;
    tell_state();
    return leave(0);
}

int nvmlGpmSampleFree(sample_t *sample) {
    pthread_mutex_lock(&lock);
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
    pthread_mutex_lock(&lock);
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
