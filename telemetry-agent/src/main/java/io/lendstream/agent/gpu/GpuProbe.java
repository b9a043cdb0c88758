package io.lendstream.agent.gpu;

import java.time.Instant;

/**
 * Tells what GPUs this node has and what they do. What goes wrong on the machine is said in the answer, never thrown.
 *
 * <p>For one thread, but for {@link #pause}, {@link #resume} and {@link #close}, which any thread may call.
 */
public interface GpuProbe extends AutoCloseable {
    /**
     * Looks once. Never blocks longer than its patience; after a failure tries again with backoff.
     *
     * @param now stamps what was heard of, and measures backoff and windows
     */
    GpuSnapshot look(Instant now);

    /**
     * Lets the driver go (maintenance, a MIG change); {@link #look} then answers PAUSED until {@link #resume}.
     *
     * @param why is said in each answer meanwhile
     */
    void pause(String why);

    void resume();

    @Override
    void close();
}
