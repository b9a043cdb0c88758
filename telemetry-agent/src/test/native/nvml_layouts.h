/* How NVML lays out what it is given and gives: the order and width of fields in its public header, under names of our own. */
#ifndef NVML_LAYOUTS_H
#define NVML_LAYOUTS_H

typedef unsigned long long u64;

typedef struct { char bus_id_legacy[16]; unsigned domain, bus, device, device_id, subsystem_id; char bus_id[32]; } pci_info_t;
typedef struct { u64 total, free, used; } memory_t;
typedef struct { unsigned version; u64 total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned gpu, memory; } utilization_t;
typedef union { double d; int si; unsigned ui; unsigned long ul; u64 ull; long long sll; unsigned short us; } value_t;
typedef struct { unsigned field_id, scope_id; long long timestamp, latency; int value_type, code; value_t value; } field_value_t;
typedef struct { unsigned pid; u64 memory; } process_v1_t;
typedef struct { unsigned pid; u64 memory; unsigned gpu_instance, compute_instance; } process_v2_t;
typedef struct { void *device; u64 type, data; unsigned gpu_instance, compute_instance; } event_data_t;
typedef struct { unsigned start, size; } placement_t;
typedef struct { void *device; unsigned id, profile_id; placement_t placement; } gpu_instance_info_t;
typedef struct {
    unsigned id, is_p2p, slice_count, instance_count, multiprocessor_count, copy_engines, decoders, encoders, jpegs, ofas;
    u64 memory_size_mb;
} profile_info_t;
typedef struct {
    unsigned version, id, is_p2p, slice_count, instance_count, multiprocessor_count, copy_engines, decoders, encoders, jpegs, ofas;
    u64 memory_size_mb;
    char name[96];
} profile_info_v2_t;
typedef struct { unsigned id; int code; double value; char *short_name, *long_name, *unit; } gpm_metric_t;
typedef struct { unsigned version, count; void *sample1, *sample2; gpm_metric_t metrics[477]; } gpm_metrics_get_t;
typedef struct { unsigned version, supported; } gpm_support_t;

/* Our own: NVML's handle is opaque. */
typedef struct { unsigned last, registered; } event_set_t;

#endif
