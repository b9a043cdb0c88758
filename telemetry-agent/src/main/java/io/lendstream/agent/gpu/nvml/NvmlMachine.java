package io.lendstream.agent.gpu.nvml;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * This machine's GPUs through NVML, which is initialised at first use and stays open. It is one long-lived session,
 * as in NVIDIA's own tools. For one thread.
 */
public final class NvmlMachine {
    /** A lost GPU may return when NVML is initialised again; frequent attempts would disturb the other GPUs. */
    private static final Duration LOST_AGAIN = Duration.ofMinutes(1);

    private final List<String> libraries;
    private final boolean withProcesses;
    private final Xids xids = new Xids();
    private Optional<NvmlSession> session = Optional.empty();
    private Instant openedAt = Instant.EPOCH;

    /**
     * NVML from given paths.
     *
     * @param libraries directories, paths or names, tried in this order; empty for the usual ones
     * @param withProcesses whether each read includes the computing processes
     */
    public NvmlMachine(List<String> libraries, boolean withProcesses) {
        this.withProcesses = withProcesses;
        this.libraries = libraries.isEmpty() ? Library.USUAL : List.copyOf(libraries);
    }

    /**
     * Whether NVML can be loaded here; whether a driver answers is not checked.
     *
     * @param libraries as for the constructor
     */
    public static boolean isThere(List<String> libraries) {
        try {
            Library.load(libraries.isEmpty() ? Library.USUAL : libraries).close();
            return true;
        } catch (NvmlException e) {
            return false;
        }
    }

    /**
     * Reads once.
     *
     * @throws NvmlException if NVML does not answer; it is then closed, and the next read opens it again
     */
    public Readings look(Instant now) throws NvmlException {
        if (session.isPresent() && session.get().hasLostGpus() && !now.isBefore(openedAt.plus(LOST_AGAIN))) {
            letGo();
        }
        if (session.isEmpty()) {
            session = Optional.of(NvmlSession.open(libraries, xids));
            openedAt = now;
        }
        try {
            return session.get().look(now, withProcesses);
        } catch (NvmlException | RuntimeException e) {
            letGo();
            throw e;
        }
    }

    /** Closes NVML completely, so that others may change MIG modes or update the driver. */
    public void letGo() {
        session.ifPresent(NvmlSession::close);
        session = Optional.empty();
    }
}
