package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/**
 * Changes a job's GPUs in place, by the {@link Membership} protocol: starts workers and performs the protocol's
 * actions.
 */
final class ElasticRescaler implements Rescaler {
    private final Job job;
    private final Membership membership;
    private final RendezvousStore store = new RendezvousStore();

    ElasticRescaler(Job job) {
        this.job = job;
        this.membership = new Membership(job.id(), job.target(), new Actions());
    }

    @Override
    public void adopt(JobFile file) {
        job.workers().all().forEach(worker -> membership.add(worker.identity()));
        membership.adopt(file, job.nowNanos());
    }

    @Override
    public void advance() {
        if (job.isOver() || !membership.advance(job.nowNanos())) {
            return;
        }
        startMissing();
        if (membership.isIdle()) {
            endIfNothingIsLeft();
        } else {
            membership.change(job.nowNanos());
        }
    }

    private void startMissing() {
        if (membership.isFinished() || job.target().isStopping()) {
            return;
        }
        for (Slot slot : job.target().slots()) {
            boolean isUsed = job.workers().isUsed(slot.gpu());
            if (!isUsed && !job.isGivenUp(slot) && !job.mustWait(slot, membership.lostNanos())) {
                job.launch(List.of(slot), job.program().command(), Map.of("LENDSTREAM_AFE_MODE", "elastic"))
                        .ifPresent(worker -> membership.add(worker.identity()));
            }
        }
    }

    private void endIfNothingIsLeft() {
        if (!job.workers().isEmpty()) {
            return;
        }
        JobTarget target = job.target();
        List<Slot> slots = target.slots();
        if (membership.isFinished() || target.isStopping()) {
            if (target.isStopping() && !target.isSettled()) {
                job.settle();
            }
            job.end(membership.isFinished() ? job.lastCode() : 0);
        } else if (!slots.isEmpty() && slots.stream().allMatch(job::isGivenUp)) {
            job.end(job.lastCode() == 0 ? 1 : job.lastCode());
        } else if (slots.isEmpty() && !target.isSettled()) {
            job.settle();
        }
    }

    @Override
    public void heard(Worker worker, String type, JsonNode message) {
        membership.heard(worker.name(), type, message, job.nowNanos());
    }

    @Override
    public void gone(Worker worker) {
        if (membership.isFailure(worker.name())) {
            job.countFailure(worker);
        }
        membership.gone(worker.name(), job.nowNanos());
    }

    @Override
    public boolean isDispensable(Worker worker) {
        return membership.isDispensable(worker.name());
    }

    @Override
    public MembershipState state() {
        return membership.state();
    }

    @Override
    public void askStore(JsonNode request, ByteBuffer body, EpochStore.Answer answer) {
        store.ask(request, body, job.nowNanos(), answer);
    }

    @Override
    public void expireStore(long nowNanos) {
        store.expire(nowNanos);
    }

    /** Performs the protocol's actions at once. */
    private final class Actions implements MembershipActions {
        private Worker worker(String name) {
            return job.workers()
                    .find(name)
                    .orElseThrow(() -> new IllegalStateException("job %s has no worker %s".formatted(job.id(), name)));
        }

        @Override
        public void send(String worker, ObjectNode message) {
            worker(worker).send(message);
        }

        @Override
        public void kill(String worker) {
            worker(worker).kill();
        }

        @Override
        public void setDeadline(String worker, long nanos) {
            worker(worker).setDeadline(nanos);
        }

        @Override
        public void clearDeadline(String worker) {
            worker(worker).clearDeadline();
        }

        @Override
        public void openStore(long epoch) {
            store.open(epoch);
        }

        @Override
        public void endStore() {
            store.end();
        }

        @Override
        public void save() {
            job.save();
        }

        @Override
        public void bound(List<Slot> slots) {
            job.reportBound(slots);
        }

        @Override
        public void settle(ChangeTimings timings) {
            job.settle(timings);
        }

        @Override
        public void recovered(List<Slot> lost, ChangeTimings timings) {
            job.reportRecovered(lost, timings);
        }
    }
}
