#define _GNU_SOURCE
#include "machine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

machine_t machine;
int inits, sets, samples;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char directory[4096];
static struct stat seen;

static void locate(void) {
    Dl_info info;
    if (!directory[0] && dladdr((void *)locate, &info)) {
        snprintf(directory, sizeof directory, "%s", info.dli_fname);
        char *slash = strrchr(directory, '/');
        if (slash) *slash = 0;
    }
}

void tell_state(void) {
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

void nap(int milliseconds) {
    struct timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    nanosleep(&time, NULL);
}

/* Handles are numbers: a GPU's is 0x10000 * (index + 1), its MIG device's that plus its line + 1, its instance's plus 0x8000 + id. */
static gpu_t *gpu_of(void *handle) {
    uintptr_t number = (uintptr_t)handle >> 16;
    return number >= 1 && number <= machine.gpu_count ? &machine.gpus[number - 1] : NULL;
}

instance_t *mig_of(void *handle) {
    gpu_t *gpu = gpu_of(handle);
    uintptr_t line = (uintptr_t)handle & 0x7FFF;
    return gpu && !((uintptr_t)handle & 0x8000) && line >= 1 && line <= gpu->instance_count ? &gpu->instances[line - 1] : NULL;
}

void begin(void) {
    pthread_mutex_lock(&lock);
    refresh();
}

int enter(const char *function, void *handle, gpu_t **gpu) {
    begin();
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

int leave(int code) {
    pthread_mutex_unlock(&lock);
    return code;
}
