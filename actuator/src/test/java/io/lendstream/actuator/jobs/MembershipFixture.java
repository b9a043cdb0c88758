package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The membership of one job whose workers are this test's words, at a time that the test says. */
final class MembershipFixture {
    static final Batching BATCHING = ExampleJob.BATCHING;

    private final JobTarget target;
    private final Membership membership;
    private final RecordingActions actions = new RecordingActions(this::state);
    private long nowNanos = Duration.ofSeconds(100).toNanos();

    /** A job that is to run in slots by change 1, at second 100. */
    MembershipFixture(String slots) {
        target = new JobTarget(BATCHING, change(1), nowNanos);
        target.replace(slots(slots), BATCHING, change(1), Optional.empty(), nowNanos);
        membership = new Membership(ExampleJob.ID, target, actions);
    }

    /** Workers {@code a}, {@code b} and so on train in these slots, since epoch 1, and the change is complete. */
    static MembershipFixture training(String slots) {
        var fixture = new MembershipFixture(slots);
        List<Slot> all = slots(slots);
        for (int i = 0; i < all.size(); i++) {
            fixture.start(name(i), all.get(i).device(), 1).ready(name(i));
        }
        fixture.advance();
        for (int i = 0; i < all.size(); i++) {
            fixture.prepared(name(i), 1).passes(name(i), 1, 0);
        }
        for (int i = 0; i < all.size(); i++) {
            fixture.full(name(i), 1, 101);
        }
        fixture.target.settle();
        fixture.advance();
        fixture.actions.take();
        return fixture;
    }

    private static String name(int number) {
        return String.valueOf((char) ('a' + number));
    }

    /** A worker was started in a slot, because of a change. */
    MembershipFixture start(String worker, String slot, int change) {
        membership.add(new WorkerIdentity(worker, "token", slots(slot), change(change)));
        return this;
    }

    /** The job is to run in these slots; {@code -} for none. */
    MembershipFixture resize(String slots, Batching batching, int change) {
        target.replace(
                slots.equals("-") ? List.of() : slots(slots), batching, change(change), Optional.empty(), nowNanos);
        return this;
    }

    MembershipFixture resize(String slots, int change) {
        return resize(slots, BATCHING, change);
    }

    /** No process of a worker is left in a slot, which the job was to leave. */
    MembershipFixture release(String slot) {
        target.release(slots(slot).get(0).gpu());
        return this;
    }

    MembershipFixture adopt(JobFile file) {
        target.restore(file);
        membership.adopt(file, nowNanos);
        return this;
    }

    MembershipFixture ready(String worker) {
        return hears(worker, "{'type': 'ready'}");
    }

    MembershipFixture prepared(String worker, long epoch) {
        return hears(worker, "{'type': 'prepared', 'epoch': %d}".formatted(epoch));
    }

    MembershipFixture unprepared(String worker, long epoch) {
        return hears(worker, "{'type': 'unprepared', 'epoch': %d, 'why': 'no route'}".formatted(epoch));
    }

    /** A worker is through its last collective before an epoch. */
    MembershipFixture passes(String worker, long epoch, long step) {
        return hears(worker, "{'type': 'boundary', 'epoch': %d, 'step': %d}".formatted(epoch, step));
    }

    MembershipFixture broken(String worker, long epoch, long step) {
        return hears(worker, "{'type': 'broken', 'epoch': %d, 'step': %d}".formatted(epoch, step));
    }

    MembershipFixture aborted(String worker, long epoch, String phase) {
        return hears(worker, "{'type': 'aborted', 'epoch': %d, 'phase': '%s'}".formatted(epoch, phase));
    }

    /** A worker has taken the first step in which all take samples. */
    MembershipFixture full(String worker, long epoch, long second) {
        return hears(worker, "{'type': 'full', 'epoch': %d, 'nanos': %d000000000}".formatted(epoch, second));
    }

    MembershipFixture hello(String worker, String phase, long epoch, long passed, List<Long> prepared, long step) {
        return hears(
                worker,
                "{'type': 'hello', 'phase': '%s', 'epoch': %d, 'passed': %d, 'prepared': %s, 'step': %d}"
                        .formatted(phase, epoch, passed, prepared, step));
    }

    MembershipFixture bye(String worker) {
        return hears(worker, "{'type': 'bye'}");
    }

    /** A message, with single quotes for double ones. */
    MembershipFixture hears(String worker, String message) {
        JsonNode json = json(message);
        membership.heard(worker, json.path("type").asText(), json, nowNanos);
        return this;
    }

    static ObjectNode json(String text) {
        try {
            return (ObjectNode) Frames.JSON.readTree(text.replace('\'', '"'));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** No process of a worker is left. */
    MembershipFixture gone(String worker) {
        membership.gone(worker, nowNanos);
        return this;
    }

    MembershipFixture afterSeconds(long seconds) {
        nowNanos += Duration.ofSeconds(seconds).toNanos();
        return this;
    }

    /** Does what can be done next, as the job does after each event, without starting workers. */
    MembershipFixture advance() {
        if (membership.advance(nowNanos) && !membership.isIdle()) {
            membership.change(nowNanos);
        }
        return this;
    }

    /** Whether nothing else is in progress, so that the job may start workers, change its group or end. */
    boolean canAdvance() {
        return membership.advance(nowNanos);
    }

    /** What the protocol has asked since the last call. */
    List<String> asked() {
        return actions.take();
    }

    List<ObjectNode> messagesTo(String worker) {
        return actions.takeMessages(worker);
    }

    MembershipState state() {
        return membership.state();
    }

    JobTarget target() {
        return target;
    }

    Membership membership() {
        return membership;
    }
}
