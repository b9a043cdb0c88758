package io.lendstream.agent.gpu.nvml;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * NVML's status of a call, and its meaning for the agent.
 *
 * @see <a href="https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html">nvmlReturn_t</a>
 */
enum Code {
    SUCCESS(0, Meaning.DONE),
    UNINITIALIZED(1, Meaning.DRIVER_GONE),
    INVALID_ARGUMENT(2, Meaning.TROUBLE),
    NOT_SUPPORTED(3, Meaning.ABSENT),
    NO_PERMISSION(4, Meaning.FORBIDDEN),
    ALREADY_INITIALIZED(5, Meaning.TROUBLE),
    NOT_FOUND(6, Meaning.ABSENT),
    INSUFFICIENT_SIZE(7, Meaning.TROUBLE),
    INSUFFICIENT_POWER(8, Meaning.TROUBLE),
    DRIVER_NOT_LOADED(9, Meaning.DRIVER_GONE),
    TIMEOUT(10, Meaning.TROUBLE),
    IRQ_ISSUE(11, Meaning.TROUBLE),
    LIBRARY_NOT_FOUND(12, Meaning.DRIVER_GONE),
    /** Also used for a symbol that the library lacks. */
    FUNCTION_NOT_FOUND(13, Meaning.ABSENT),
    CORRUPTED_INFOROM(14, Meaning.TROUBLE),
    GPU_IS_LOST(15, Meaning.GPU_GONE),
    RESET_REQUIRED(16, Meaning.GPU_GONE),
    OPERATING_SYSTEM(17, Meaning.TROUBLE),
    LIB_RM_VERSION_MISMATCH(18, Meaning.DRIVER_GONE),
    IN_USE(19, Meaning.TROUBLE),
    MEMORY(20, Meaning.TROUBLE),
    NO_DATA(21, Meaning.ABSENT),
    VGPU_ECC_NOT_SUPPORTED(22, Meaning.ABSENT),
    INSUFFICIENT_RESOURCES(23, Meaning.TROUBLE),
    FREQ_NOT_SUPPORTED(24, Meaning.ABSENT),
    ARGUMENT_VERSION_MISMATCH(25, Meaning.ABSENT),
    DEPRECATED(26, Meaning.ABSENT),
    NOT_READY(27, Meaning.ABSENT),
    GPU_NOT_FOUND(28, Meaning.GPU_GONE),
    INVALID_STATE(29, Meaning.TROUBLE),
    RESET_TYPE_NOT_SUPPORTED(30, Meaning.TROUBLE),
    /** Also every code that a newer driver may add. */
    UNKNOWN(999, Meaning.TROUBLE);

    /** How a status is handled. */
    enum Meaning {
        DONE,
        /** The device does not support it; the value is absent, without a message. */
        ABSENT,
        /** The value is absent for lack of permission; operators are informed. */
        FORBIDDEN,
        /** This GPU no longer answers; others do. */
        GPU_GONE,
        /** The library no longer answers until it is initialised again. */
        DRIVER_GONE,
        /** The value is absent this time; operators are informed. */
        TROUBLE
    }

    private static final Map<Integer, Code> BY_NUMBER = new HashMap<>();

    static {
        for (Code code : values()) {
            BY_NUMBER.put(code.number, code);
        }
    }

    private final int number;
    private final Meaning meaning;

    Code(int number, Meaning meaning) {
        this.number = number;
        this.meaning = meaning;
    }

    static Code of(int number) {
        return BY_NUMBER.getOrDefault(number, UNKNOWN);
    }

    Meaning meaning() {
        return meaning;
    }

    boolean isSuccess() {
        return this == SUCCESS;
    }

    /** The status as text, with NVML's number for reference. */
    @Override
    public String toString() {
        return "%s (%d)".formatted(name().toLowerCase(Locale.ROOT).replace('_', ' '), number);
    }
}
