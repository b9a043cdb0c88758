package io.lendstream.agent.gpu.nvml;

/** Reports that NVML does not answer: the session must be started again later. */
public final class NvmlException extends Exception {
    private static final long serialVersionUID = 1;

    NvmlException(String message) {
        super(message);
    }
}
