package io.lendstream.core.event;

/** Handles events about services, jobs and queues; ignores those about nodes, actuators, commands and schedulers. */
public abstract class WorkloadReader implements Event.Cases<Runnable> {
    @Override
    public final Runnable node(Node node) {
        return () -> {};
    }

    @Override
    public final Runnable nodeLeft(NodeLeft left) {
        return () -> {};
    }

    @Override
    public final Runnable telemetry(GpuTelemetry telemetry) {
        return () -> {};
    }

    @Override
    public final Runnable report(ActuationReport report) {
        return () -> {};
    }

    @Override
    public final Runnable command(ControlCommand command) {
        return () -> {};
    }

    /** Queues have no effect, unless a reader says otherwise. */
    @Override
    public Runnable clusterQueue(ClusterQueue queue) {
        return () -> {};
    }

    @Override
    public final Runnable started(SchedulerStarted started) {
        return () -> {};
    }

    @Override
    public final Runnable tick(Tick tick) {
        return () -> {};
    }
}
