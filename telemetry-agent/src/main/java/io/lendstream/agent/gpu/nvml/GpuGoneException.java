package io.lendstream.agent.gpu.nvml;

/** Reports that one GPU no longer answers. */
final class GpuGoneException extends Exception {
    private static final long serialVersionUID = 1;

    private final Code code;

    GpuGoneException(Code code) {
        super(code.toString());
        this.code = code;
    }

    Code code() {
        return code;
    }
}
