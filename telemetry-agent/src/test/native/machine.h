/*
 * A library with NVML's ABI that plays machines: a double for tests, for computers without an NVIDIA GPU.
 *
 * What it plays stands in the file "machine" beside it, or in the file that NVML_DOUBLE_MACHINE names; it is read again when it
 * changes, so a test can change the machine at run time. Machine.java writes such files and says what their lines mean. How
 * often the library was initialised, and what of it was left open, stands in the file "state" beside it after each change.
 *
 * Built with -DOLD_DRIVER it lacks the symbols that drivers before R470 do not have.
 */
#ifndef MACHINE_H
#define MACHINE_H

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

typedef struct {
    char driver[80];
    int init_error, sleep_ms;
    unsigned gpu_count, xid_count;
    gpu_t gpus[MOST_GPUS];
    xid_t xids[MOST_XIDS];
} machine_t;

extern machine_t machine;

/* What is open: each change of it must be written. */
extern int inits, sets, samples;
void tell_state(void);

/* Takes the lock and reads the machine, if it has changed. */
void begin(void);

/* Gives the lock back, and the code to the caller. */
int leave(int code);

/* What every call on a device begins with; the lock is taken where it answers 0. */
int enter(const char *function, void *device, gpu_t **gpu);

/* The MIG device of a handle, or none. */
instance_t *mig_of(void *handle);

void nap(int milliseconds);

#define ENTER                                        \
    gpu_t *g;                                        \
    int entered = enter(__func__, device, &g);       \
    if (entered) return entered;
#define NEED(condition)                              \
    if (!(condition)) return leave(3);

#endif
