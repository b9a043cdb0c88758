package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.change;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** After any resizes and losses, the workers of a job train together in the slots that it is to run in. */
class MembershipSimulationTest {
    private static final int SEEDS = 100;
    private static final int DISTURBED = 1_000;
    private static final int PATIENCE = 20_000;

    /** A job whose processes are simulated. */
    private static final class SimulatedJob implements MembershipActions {
        private final SplittableRandom random;
        private final JobTarget target = new JobTarget(ExampleJob.BATCHING, change(1), 0);
        private final Membership membership = new Membership(ExampleJob.ID, target, this);
        private final Map<String, SimulatedWorker> workers = new LinkedHashMap<>();
        private int started;
        private int changes;

        SimulatedJob(long seed) {
            random = new SplittableRandom(seed);
            resize();
        }

        void resize() {
            int chosen = 1 + random.nextInt(15);
            List<Slot> slots = IntStream.range(0, 4)
                    .filter(slot -> (chosen >> slot & 1) == 1)
                    .mapToObj(slot -> new Slot(new GpuId("gpu" + slot), "" + slot))
                    .toList();
            target.replace(slots, new Batching(1 + random.nextInt(3), 1, 1), change(++changes), Optional.empty(), 0);
            for (SimulatedWorker each : workers.values()) {
                if (each.slots().stream().anyMatch(target::isReleased) && membership.isDispensable(each.name())) {
                    each.end();
                }
            }
            target.leaving().stream().filter(slot -> !isUsed(slot)).forEach(slot -> target.release(slot.gpu()));
        }

        private boolean isUsed(Slot slot) {
            return workers.values().stream().anyMatch(worker -> worker.slots().contains(slot));
        }

        void loseAWorker() {
            if (!workers.isEmpty()) {
                anyWorker().end();
            }
        }

        void goOn() {
            if (!workers.isEmpty()) {
                SimulatedWorker worker = anyWorker();
                if (worker.isAlive()) {
                    worker.act(workers.values())
                            .ifPresent(said -> membership.heard(
                                    worker.name(), said.path("type").asText(), said, 0));
                }
            }
            for (SimulatedWorker each : List.copyOf(workers.values())) {
                if (!each.isAlive()) {
                    workers.remove(each.name());
                    membership.gone(each.name(), 0);
                    each.slots().forEach(slot -> target.release(slot.gpu()));
                }
            }
            if (membership.advance(0)) {
                startMissing();
                if (!membership.isIdle()) {
                    membership.change(0);
                }
            }
        }

        private SimulatedWorker anyWorker() {
            return new ArrayList<>(workers.values()).get(random.nextInt(workers.size()));
        }

        private void startMissing() {
            for (Slot slot : target.slots()) {
                if (!isUsed(slot)) {
                    String name = "w" + started++;
                    workers.put(name, new SimulatedWorker(name, List.of(slot)));
                    membership.add(new WorkerIdentity(name, "token", List.of(slot), target.causeOf(slot)));
                }
            }
        }

        /** Whether all that is wanted trains, in one group, with the batch that was asked for. */
        boolean isAtItsTarget() {
            TreeSet<Long> seats = new TreeSet<>();
            workers.values().forEach(worker -> seats.add(worker.seat()));
            return target.isSettled()
                    && seats.size() == 1
                    && !seats.contains(0L)
                    && membership.state().applied().equals(target.batching())
                    && membership.state().members().size() == target.slots().size()
                    && target.isExactly(workers.values().stream()
                            .flatMap(worker -> worker.slots().stream())
                            .toList());
        }

        @Override
        public void send(String worker, ObjectNode message) {
            workers.get(worker).receive(message);
        }

        @Override
        public void kill(String worker) {
            workers.get(worker).end();
        }

        @Override
        public void setDeadline(String worker, long nanos) {
            // All workers leave when they may.
        }

        @Override
        public void clearDeadline(String worker) {
            // There is none.
        }

        @Override
        public void openStore(long epoch) {
            // Groups are built without one.
        }

        @Override
        public void endStore() {
            // There is none.
        }

        @Override
        public void save() {
            // No other node process takes over.
        }

        @Override
        public void bound(List<Slot> slots) {
            target.bind(slots);
        }

        @Override
        public void settle(ChangeTimings timings) {
            target.settle();
        }

        @Override
        public void recovered(List<Slot> lost, ChangeTimings timings) {
            assertThat(lost).isNotEmpty();
        }
    }

    @Test
    void aJobComesToItsTargetAfterAnyResizesAndLosses() {
        for (int seed = 0; seed < SEEDS; seed++) {
            var job = new SimulatedJob(seed);
            var random = new SplittableRandom(-seed);
            for (int i = 0; i < DISTURBED; i++) {
                job.goOn();
                int chance = random.nextInt(100);
                if (chance < 2) {
                    job.resize();
                } else if (chance < 4) {
                    job.loseAWorker();
                }
            }

            int events = 0;
            while (!job.isAtItsTarget() && events < PATIENCE) {
                job.goOn();
                events++;
            }

            assertThat(events)
                    .as("events in peace until the target, seed %d", seed)
                    .isLessThan(PATIENCE);
        }
    }
}
