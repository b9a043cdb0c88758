package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Calls on one device that answer with a value in memory. A value that is not to be had is empty, and why is told; a GPU that is
 * gone, or a driver, is thrown. For one thread: all calls share one piece of memory for what they answer.
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
     * Calls, and sorts out what the answer means.
     *
     * @param of whom to name where it goes wrong
     */
    Code call(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        Code code = library.call(function, arguments);
        switch (code.meaning()) {
            case DRIVER_GONE -> throw new NvmlException("NVML answers %s: %s".formatted(function, code));
            case GPU_GONE -> throw new GpuGoneException(code);
            default -> troubles.tell(of, function, code);
        }
        return code;
    }

    boolean has(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return call(of, function, arguments).isSuccess();
    }

    /** An unsigned int that follows the arguments. */
    Optional<Long> unsigned(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return has(of, function, followedBy(arguments, answer))
                ? Optional.of(Integer.toUnsignedLong(answer.getInt(0)))
                : Optional.empty();
    }

    /** An unsigned long long that follows the arguments; one that would be negative is a sentinel, and absent. */
    Optional<Long> big(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return has(of, function, followedBy(arguments, answer)) && answer.getLong(0) >= 0
                ? Optional.of(answer.getLong(0))
                : Optional.empty();
    }

    /** A handle that follows the arguments. */
    Optional<Pointer> handle(String of, String function, Object... arguments) throws NvmlException, GpuGoneException {
        return has(of, function, followedBy(arguments, answer)) ? Optional.of(answer.getPointer(0)) : Optional.empty();
    }

    /** A text whose length follows it; blank is absent. */
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
