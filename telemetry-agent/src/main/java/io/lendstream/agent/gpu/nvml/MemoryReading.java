package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.Optional;

/**
 * Memory of a GPU, or of a MIG device.
 *
 * @param usedBytes used by processes; with old drivers, including the driver's own reserve
 */
record MemoryReading(long totalBytes, long usedBytes) {
    private static final int BYTES = 40;
    private static final int VERSION = BYTES | 2 << 24;

    static Optional<MemoryReading> of(Calls calls, String who, Pointer device) throws NvmlException, GpuGoneException {
        Memory answer = calls.answer();
        answer.clear(BYTES);
        answer.setInt(0, VERSION);
        if (calls.has(who, "nvmlDeviceGetMemoryInfo_v2", device, answer)) {
            return checked(answer.getLong(8), answer.getLong(32));
        }
        return calls.has(who, "nvmlDeviceGetMemoryInfo", device, answer)
                ? checked(answer.getLong(0), answer.getLong(16))
                : Optional.empty();
    }

    private static Optional<MemoryReading> checked(long total, long used) {
        return total >= 0 && used >= 0 ? Optional.of(new MemoryReading(total, used)) : Optional.empty();
    }
}
