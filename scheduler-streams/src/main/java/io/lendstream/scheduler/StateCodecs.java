package io.lendstream.scheduler;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Progress;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ApplicationTraits;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;

/** The codecs of all kinds of entries. */
final class StateCodecs {
    final StateCodec<DomainHeader> headers = StateCodec.of(DomainHeader.class);
    final StateCodec<NodeState> nodes = StateCodec.of(NodeState.class);
    final StateCodec<LastSample> samples = StateCodec.of(LastSample.class);
    final StateCodec<GpuState> gpus = StateCodec.of(GpuState.class);
    final StateCodec<ServiceState> services = StateCodec.of(ServiceState.class);
    final StateCodec<SourceRate> sources = StateCodec.of(SourceRate.class);
    final StateCodec<JobState> jobs = StateCodec.of(JobState.class);
    final StateCodec<QueueState> queues = StateCodec.of(QueueState.class);
    final StateCodec<ActuatorDescription> actuators = StateCodec.of(ActuatorDescription.class);
    final StateCodec<ApplicationTraits> applications = StateCodec.of(ApplicationTraits.class);
    final StateCodec<Advice> advices = StateCodec.of(Advice.class);
    final StateCodec<Progress> progress = StateCodec.of(Progress.class);
}
