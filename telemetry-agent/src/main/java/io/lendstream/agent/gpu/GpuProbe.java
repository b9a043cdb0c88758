package io.lendstream.agent.gpu;

import java.time.Instant;

/**
 * Reads the inventory and the state of this node's GPUs. Problems of the machine are part of the result, never
 * thrown.
 *
 * <p>For one thread, except {@link #pause}, {@link #resume} and {@link #close}, which are safe for any thread.
 */
public interface GpuProbe extends AutoCloseable {
    /**
     * Reads once. Never blocks longer than its time limit; after a failure it retries with backoff.
     *
     * @param now time of the result, also used for backoff and windows
     */
    GpuSnapshot look(Instant now);

    /**
     * Releases the driver (maintenance, a MIG change); {@link #look} then returns PAUSED until {@link #resume}.
     *
     * @param why the reason in each result meanwhile
     */
    void pause(String why);

    void resume();

    @Override
    void close();
}
