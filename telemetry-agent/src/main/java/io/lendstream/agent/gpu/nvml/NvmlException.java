package io.lendstream.agent.gpu.nvml;

/** Thrown where NVML as a whole does not answer any more, or not yet: what to do is to begin anew, later. */
public final class NvmlException extends Exception {
    private static final long serialVersionUID = 1;

    NvmlException(String message) {
        super(message);
    }
}
