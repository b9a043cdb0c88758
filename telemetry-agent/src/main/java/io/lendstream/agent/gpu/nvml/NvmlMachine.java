package io.lendstream.agent.gpu.nvml;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * This machine's GPUs by NVML, which is initialised when it is first needed and stays so: one long-lived session, as NVIDIA's own
 * tools have. For one thread.
 */
public final class NvmlMachine {
    /** A GPU that was lost may come back when NVML is initialised anew; to try too often would disturb the others. */
    private static final Duration LOST_AGAIN = Duration.ofMinutes(1);

    private final List<String> libraries;
    private final boolean withProcesses;
    private final Xids xids = new Xids();
    private Optional<NvmlSession> session = Optional.empty();
    private Instant openedAt = Instant.EPOCH;

    /**
     * NVML from where it lies.
     *
     * @param libraries directories, paths or names to load it from, tried in this order; none for the usual ones
     * @param withProcesses whether to ask, at each look, which processes compute
     */
    public NvmlMachine(List<String> libraries, boolean withProcesses) {
        this.withProcesses = withProcesses;
        this.libraries = libraries.isEmpty() ? Library.USUAL : List.copyOf(libraries);
    }

    /**
     * Whether NVML can be loaded here; whether a driver answers is not asked.
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
     * Looks once.
     *
     * @throws NvmlException where NVML does not answer; it has been let go then, and the next look begins anew
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

    /** Shuts NVML down: nothing of it is open any more, so that others may change MIG modes or update the driver. */
    public void letGo() {
        session.ifPresent(NvmlSession::close);
        session = Optional.empty();
    }
}
