package io.lendstream.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;

/** Whether an event only reports a current condition, which the next event of its kind reports again. */
final class IsSignal implements Event.Cases<Boolean> {
    static final IsSignal INSTANCE = new IsSignal();

    private IsSignal() {}

    @Override
    public Boolean node(Node node) {
        return false;
    }

    @Override
    public Boolean nodeLeft(NodeLeft left) {
        return false;
    }

    @Override
    public Boolean telemetry(GpuTelemetry telemetry) {
        return true;
    }

    @Override
    public Boolean sampleSummary(SampleSummary summary) {
        return true;
    }

    @Override
    public Boolean service(InferenceService service) {
        return false;
    }

    @Override
    public Boolean rate(RequestRate rate) {
        return true;
    }

    @Override
    public Boolean job(TrainingJob job) {
        return false;
    }

    @Override
    public Boolean progress(TrainingProgress progress) {
        return true;
    }

    @Override
    public Boolean forecast(DemandForecast forecast) {
        return true;
    }

    @Override
    public Boolean report(ActuationReport report) {
        return false;
    }

    @Override
    public Boolean command(ControlCommand command) {
        return false;
    }

    @Override
    public Boolean clusterQueue(ClusterQueue queue) {
        return false;
    }

    @Override
    public Boolean actuatorDescription(ActuatorDescription description) {
        return false;
    }

    @Override
    public Boolean domainSettings(DomainSettings settings) {
        return false;
    }

    @Override
    public Boolean started(SchedulerStarted started) {
        return false;
    }

    @Override
    public Boolean tick(Tick tick) {
        return false;
    }
}
