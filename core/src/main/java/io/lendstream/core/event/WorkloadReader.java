package io.lendstream.core.event;

/** Handles events about services and jobs, and ignores all others. */
public abstract class WorkloadReader implements Event.Cases<Runnable> {
    @Override
    public Runnable node(Node node) {
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
    public final Runnable sampleSummary(SampleSummary summary) {
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

    @Override
    public final Runnable clusterQueue(ClusterQueue queue) {
        return () -> {};
    }

    @Override
    public final Runnable actuatorDescription(ActuatorDescription description) {
        return () -> {};
    }

    @Override
    public final Runnable domainSettings(DomainSettings settings) {
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
