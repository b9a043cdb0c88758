package io.lendstream.agent.gpu;

import io.lendstream.core.mig.MigGpu;

/** Machines that tests look at. */
final class Machines {
    static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow();
    static final MigGpu H100 = MigGpu.named("H100-SXM5").orElseThrow();
    static final MigGpu H200 = MigGpu.named("H200").orElseThrow();

    private static final String ACTIVITY = "55 40 20 30 100 200";

    private Machines() {}

    /** Two GPUs without MIG, one of them busy. */
    static Machine a100MigOff() {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .healthy()
                .has("utilization 93 37")
                .has("nvlink 1000000 2000000")
                .has("mig 0 0")
                .has("process 4242 2147483648 4294967295")
                .gpu("GPU-a1", "NVIDIA A100-SXM4-80GB", 8, 80)
                .healthy()
                .has("utilization 0 0")
                .has("mig 0 0");
    }

    /** One cut into 4g, 2g and 1g: its utilisation is unknown. */
    static Machine a100MigOn() {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .healthy()
                .has("utilization 0 0")
                .inMigMode(A100)
                .instance(A100, 1, "4g.40gb", 0, "MIG-a0-4g", "")
                .instance(A100, 5, "2g.20gb", 4, "MIG-a0-2g", "")
                .instance(A100, 13, "1g.10gb", 6, "MIG-a0-1g", "")
                .has("process 4242 1073741824 5")
                .has("process 4243 18446744073709551615 1");
    }

    /** One of which GPM tells. */
    static Machine h100MigOn() {
        return h100MigOn("MIG-h0-3g", ACTIVITY);
    }

    static Machine h100MigOn(String uuidOfThree, String activityOfThree) {
        return Machine.withDriver("570.124.06")
                .gpu("GPU-h0", "NVIDIA H100 80GB HBM3", 9, 80)
                .healthy()
                .inMigMode(H100)
                .instance(H100, 2, "3g.40gb", 4, uuidOfThree, activityOfThree)
                .instance(H100, 1, "4g.40gb", 0, "MIG-h0-4g", "5 4 0 3");
    }

    /** Seven of the smallest on an H200, one of them idle. */
    static Machine h200MigOn() {
        Machine machine = Machine.withDriver("570.124.06")
                .gpu("GPU-h2", "NVIDIA H200", 9, 141)
                .healthy()
                .inMigMode(H200);
        for (int i = 0; i < 7; i++) {
            machine.instance(H200, 7 + i, "1g.18gb", i, "MIG-h2-" + i, "%d %d 0 1".formatted(10 * i, 8 * i));
        }
        return machine;
    }

    /** A whole Hopper GPU, of which NVML's utilisation and GPM tell. */
    static Machine h100MigOff() {
        return Machine.withDriver("570.124.06")
                .gpu("GPU-h0", "NVIDIA H100 80GB HBM3", 9, 80)
                .healthy()
                .has("utilization 88 20")
                .has("mig 0 0")
                .has("gpm 87 61 33 44 120 240 16 32");
    }

    /** What a user sees who is neither root nor allowed to watch MIG. */
    static Machine noPermission() {
        Machine machine = a100MigOn()
                .fails("nvmlDeviceGetGpuInstanceById", 4)
                .fails("nvmlDeviceGetGpuInstancePossiblePlacements_v2", 4)
                .fails("nvmlDeviceGetComputeRunningProcesses_v3", 4)
                .fails("nvmlDeviceGetComputeRunningProcesses", 4);
        return machine;
    }

    static Machine migPending() {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .healthy()
                .has("utilization 0 0")
                .has("mig 0 1");
    }

    /** One cut GPU that another client has to itself just now: mode, utilisation and memory are not told. */
    static Machine inUse() {
        return a100MigOn()
                .fails("nvmlDeviceGetMigMode", 19)
                .fails("nvmlDeviceGetMemoryInfo_v2", 19)
                .fails("nvmlDeviceGetMemoryInfo", 19);
    }

    /** A GPU that has fallen off the bus, which is what XID 79 says. */
    static Machine fallenOff() {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .has("lost")
                .gpu("GPU-a1", "NVIDIA A100-SXM4-80GB", 8, 80)
                .healthy()
                .has("utilization 0 0")
                .has("mig 0 0")
                .xid(0, 79);
    }

    /** Two GPUs, the first of which fell off the bus. */
    static Machine oneLost() {
        return Machine.withDriver("550.54.15")
                .gpu("GPU-a0", "NVIDIA A100-SXM4-80GB", 8, 80)
                .has("lost")
                .gpu("GPU-a1", "NVIDIA A100-SXM4-80GB", 8, 80)
                .healthy()
                .has("utilization 12 3")
                .has("mig 0 0");
    }
}
