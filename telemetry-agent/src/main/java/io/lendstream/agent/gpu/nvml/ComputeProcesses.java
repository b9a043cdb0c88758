package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The processes that compute on a GPU, including those under MPS. */
final class ComputeProcesses {
    private static final long INFOS_AT = 16;
    private static final int BYTES = 24;
    private static final int OLD_BYTES = 16;
    private static final int MOST = 2_000;
    private static final String ALONE = "nvmlDeviceGetComputeRunningProcesses";
    /** Not available in drivers before MPS support. */
    private static final String MPS = "nvmlDeviceGetMPSComputeRunningProcesses";

    private ComputeProcesses() {}

    /**
     * The processes of a GPU; empty if the driver does not report them.
     *
     * @param instances instances by driver number; a process outside of them belongs to the GPU
     */
    static Optional<List<RunningProcess>> of(
            Calls calls, String who, Pointer gpu, GpuId gpuId, Map<Integer, GpuId> instances)
            throws NvmlException, GpuGoneException {
        Map<Long, RunningProcess> byPid = new TreeMap<>();
        for (String kind : List.of(ALONE, MPS)) {
            Memory answer = calls.answer();
            Pointer infos = answer.share(INFOS_AT);
            answer.setInt(0, MOST);
            Code code = calls.call(who, kind + "_v3", gpu, answer, infos);
            int bytes = BYTES;
            if (code == Code.FUNCTION_NOT_FOUND) {
                code = calls.call(who, kind, gpu, answer, infos);
                bytes = OLD_BYTES;
            }
            if (!code.isSuccess() && !(kind.equals(MPS) && code.meaning() == Code.Meaning.ABSENT)) {
                return Optional.empty();
            }
            int count = code.isSuccess() ? Math.min(answer.getInt(0), MOST) : 0;
            for (int i = 0; i < count; i++) {
                Pointer info = infos.share((long) i * bytes);
                long pid = Integer.toUnsignedLong(info.getInt(0));
                long memory = info.getLong(8);
                GpuId on = bytes == BYTES ? instances.getOrDefault(info.getInt(16), gpuId) : gpuId;
                byPid.put(pid, new RunningProcess(on, pid, memory < 0 ? Optional.empty() : Optional.of(memory)));
            }
        }
        return Optional.of(List.copyOf(byPid.values()));
    }
}
