package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * NVML calls on one device that return a value in memory. An unavailable value is empty, and the reason is recorded;
 * the loss of a GPU or of the driver is thrown. For one thread: all calls share one memory buffer.
 */
final class Calls {
    private static final int ROOM = 64 * 1024;
    private static final int TEXT = 96;

    private final Library library;
    private final Troubles troubles;
    private final Memory answer = new Memory(ROOM);

    Calls(Library library, Troubles troubles) {
        this.library = library;
        this.troubles = troubles;
    }

    Memory answer() {
        return answer;
    }

    Troubles troubles() {
        return troubles;
    }

    Library library() {
        return library;
    }

    /**
     * Makes a call and handles its status.
     *
     * @param of the device's name in messages
     */
    Code call(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        Code code = library.call(function, arguments);
        switch (code.meaning()) {
            case DRIVER_GONE -> throw new NvmlException("NVML function %s returned: %s".formatted(function, code));
            case GPU_GONE -> throw new GpuGoneException(code);
            default -> troubles.tell(of, function, code);
        }
        return code;
    }

    boolean has(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return call(of, function, arguments).isSuccess();
    }

    /** Reads an unsigned int, which is the last argument. */
    Optional<Long> unsigned(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return has(of, function, followedBy(arguments, answer))
                ? Optional.of(Integer.toUnsignedLong(answer.getInt(0)))
                : Optional.empty();
    }

    /** Reads an unsigned long long, the last argument; a negative number is a sentinel for an absent value. */
    Optional<Long> big(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return has(of, function, followedBy(arguments, answer)) && answer.getLong(0) >= 0
                ? Optional.of(answer.getLong(0))
                : Optional.empty();
    }

    /** Reads a handle, which is the last argument. */
    Optional<Pointer> handle(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return has(of, function, followedBy(arguments, answer)) ? Optional.of(answer.getPointer(0)) : Optional.empty();
    }

    /** Reads a text, which is followed by its length; a blank text is absent. */
    Optional<String> text(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        if (!has(of, function, followedBy(followedBy(arguments, answer), TEXT))) {
            return Optional.empty();
        }
        String text = answer.getString(0, StandardCharsets.UTF_8.name()).strip();
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }

    private static Object[] followedBy(Object[] arguments, Object last) {
        Object[] all = new Object[arguments.length + 1];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = last;
        return all;
    }
}
