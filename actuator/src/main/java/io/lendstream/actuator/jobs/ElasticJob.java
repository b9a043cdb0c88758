package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.actuator.jobs.EpochTransition.Kind;
import io.lendstream.actuator.jobs.Worker.Phase;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.JobId;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job that changes its GPUs in place. It goes from one membership epoch to the next: workers build the next group while
 * they train in the present one, all agree on the step after which they use it, and who leaves ends. When a worker is lost,
 * the group is broken at once, and those left build another around the worker that is furthest.
 */
final class ElasticJob extends Job {
    private static final Logger LOG = LoggerFactory.getLogger(ElasticJob.class);
    private static final Duration LEAVE = Duration.ofSeconds(10);
    /** So many groups in a row may a worker fail to build. */
    private static final int FAILED_BUILDS = 5;

    private static final Duration REPORT_BACK = Duration.ofSeconds(10);

    private List<String> members = List.of();
    private long epoch;
    private Optional<EpochTransition> transition = Optional.empty();
    /** The last completed one, until all have said what it cost. */
    private Optional<EpochTransition> measured = Optional.empty();

    private Batching nextApplied = batching;
    private Optional<EpochStore> store = Optional.empty();
    /** The last completed transition, while a worker still builds its group. The next must wait: it would end the store they use. */
    private Optional<EpochTransition> building = Optional.empty();

    private final Set<String> recovering = new LinkedHashSet<>();
    /** Groups up to this epoch were broken on our word. */
    private long abortedEpoch;

    private final List<Slot> lost = new ArrayList<>();
    private long lostNanos;
    /** Workers that an earlier node process knew, and that have not reported back. */
    private final Set<String> absent = new HashSet<>();

    private boolean adopting;
    private JobFile.@Nullable Pending inherited;

    ElasticJob(
            JobId id,
            JobProgram program,
            Batching batching,
            DecisionId change,
            Path directory,
            Shared shared,
            JobListener listener) {
        super(id, program, batching, change, directory, shared, listener);
    }

    /** Takes over workers that run, or that were about to. */
    void adopt(JobFile file) {
        restore(file);
        adopting = true;
        epoch = file.membership().epoch();
        members = file.membership().members();
        inherited = file.membership().pending();
        absent.addAll(members);
        if (inherited != null) {
            epoch = Math.max(epoch, inherited.epoch());
            absent.addAll(inherited.members());
        }
        absent.retainAll(workers.keySet());
        absent.forEach(name -> worker(name).deadlineNanos = System.nanoTime() + REPORT_BACK.toNanos());
    }

    @Override
    void advance() {
        if (isOver() || !absent.isEmpty()) {
            return;
        }
        if (adopting) {
            adopting = false;
            resolveInheritance();
        }
        if (!recovering.isEmpty()) {
            recover();
        } else if (transition.isEmpty()) {
            startMissing();
            decide();
        }
    }

    private void startMissing() {
        if (finished || stopping) {
            return;
        }
        for (Wanted each : List.copyOf(wanted.values())) {
            boolean used = workers.values().stream()
                    .anyMatch(worker -> worker.slots.stream()
                            .anyMatch(slot -> slot.gpu().equals(each.slot().gpu())));
            boolean tooSoon =
                    System.nanoTime() - lostNanos < restartDelay(each.slot()).toNanos();
            if (!used && !isGivenUp(each.slot()) && !tooSoon && !mustWait(each.slot())) {
                launch(List.of(each.slot()), program.command(), Map.of("LENDSTREAM_AFE_MODE", "elastic"));
            }
        }
    }

    private void decide() {
        List<Worker> present = members.stream().map(this::worker).toList();
        List<Worker> ready = workers.values().stream()
                .filter(worker -> worker.phase == Phase.READY && isWanted(worker))
                .toList();
        boolean othersStart =
                workers.values().stream().anyMatch(worker -> worker.phase == Phase.STARTING && isWanted(worker));
        if (finished || (present.isEmpty() && (ready.isEmpty() || othersStart))) {
            endIfNothingIsLeft();
            return;
        }
        List<Worker> joining = othersStart ? List.of() : ready;
        List<Worker> staying = new ArrayList<>(present);
        staying.removeIf(worker -> !isWanted(worker) && !isHeld(worker));
        if (staying.isEmpty() && !joining.isEmpty()) {
            staying = new ArrayList<>(present); // somebody must tell the newcomers the state
        }
        List<String> next =
                new ArrayList<>(staying.stream().map(worker -> worker.name).toList());
        joining.forEach(worker -> next.add(worker.name));
        boolean whole = isAllThatIsWanted(next);
        Batching nextBatching = whole && !next.isEmpty() ? batching : applied;
        if (next.equals(members) && nextBatching.equals(applied)) {
            if (whole && !settled && measured.isEmpty()) {
                settle(ChangeTimings.since(askedNanos));
            }
            return;
        }
        if (building.isPresent()) {
            return;
        }
        begin(present.isEmpty() ? Kind.START : Kind.CHANGE, next, transfers(staying, next), nextBatching, whole);
    }

    /** A worker is to go, but a newcomer of the same change takes over from it first: a move. */
    private boolean isHeld(Worker leaving) {
        return leaving.slots.stream().anyMatch(slot -> {
            Released release = releases.get(slot.gpu());
            return release != null
                    && workers.values().stream()
                            .anyMatch(other -> (other.phase == Phase.STARTING || other.phase == Phase.READY)
                                    && isWanted(other)
                                    && other.cause.equals(release.change()));
        });
    }

    private boolean isAllThatIsWanted(List<String> next) {
        Set<Slot> covered = new HashSet<>();
        next.forEach(name -> covered.addAll(worker(name).slots));
        return covered.equals(wanted.values().stream().map(Wanted::slot).collect(java.util.stream.Collectors.toSet()));
    }

    /** Each newcomer gets the state from one that has it, in turn; at a start all get the first one's. */
    private static List<int[]> transfers(List<Worker> staying, List<String> next) {
        List<int[]> transfers = new ArrayList<>();
        int senders = Math.max(1, staying.size());
        for (int rank = staying.isEmpty() ? 1 : staying.size(); rank < next.size(); rank++) {
            transfers.add(new int[] {transfers.size() % senders, rank});
        }
        return transfers;
    }

    private void begin(Kind kind, List<String> next, List<int[]> transfers, Batching nextBatching, boolean whole) {
        epoch++;
        List<String> before = kind == Kind.CHANGE ? members : List.of();
        var begun = new EpochTransition(epoch, kind, before, next, whole);
        transition = Optional.of(begun);
        endStore();
        store = Optional.of(new EpochStore());
        nextApplied = nextBatching;
        LOG.info("{}: epoch {} ({}) with {}", id, epoch, kind, next);
        save();
        for (int rank = 0; rank < next.size(); rank++) {
            ObjectNode prepare = message("prepare")
                    .put("kind", kind.name().toLowerCase(Locale.ROOT))
                    .put("rank", rank)
                    .put("size", next.size());
            ArrayNode late = prepare.putArray("newcomers");
            ArrayNode pairs = prepare.putArray("transfers");
            for (int[] pair : transfers) {
                pairs.addArray().add(pair[0]).add(pair[1]);
                if (kind == Kind.CHANGE) {
                    late.add(pair[1]);
                }
            }
            prepare.putObject("batching")
                    .put("localBatch", nextBatching.localBatch())
                    .put("accumulation", nextBatching.accumulation())
                    .put("learningRateScale", nextBatching.learningRateScale());
            Worker worker = worker(next.get(rank));
            worker.deadlineNanos = Long.MAX_VALUE;
            worker.send(prepare);
        }
        commitIfPrepared(begun);
    }

    /**
     * Newcomers may take long to build a group, so training goes on until they have. Those who only stay are as quick about it
     * as a step is long: they agree at once, so that who leaves need not wait for a second step.
     */
    private static boolean mayCommit(EpochTransition begun) {
        return begun.isPrepared() || begun.before.containsAll(begun.after);
    }

    private void commitIfPrepared(EpochTransition prepared) {
        if (!mayCommit(prepared) || prepared.committed || prepared.kind != Kind.CHANGE) {
            return;
        }
        prepared.committed = true;
        save();
        Set<String> all = new LinkedHashSet<>(prepared.before);
        all.addAll(prepared.after);
        all.forEach(name -> tellCommit(prepared, name));
    }

    private void tellCommit(EpochTransition committed, String name) {
        ObjectNode commit = message("commit");
        if (!committed.after.contains(name)) {
            commit.put("leave", true).put("checkpoint", committed.after.isEmpty());
        }
        worker(name).send(commit);
    }

    private void completeIfPassed(EpochTransition done) {
        if (!done.isPassed() || transition.filter(done::equals).isEmpty()) {
            return;
        }
        transition = Optional.empty();
        members = done.after;
        applied = nextApplied;
        measured = Optional.of(done);
        building = Optional.of(done).filter(each -> !each.isPrepared());
        List<Worker> newcomers = new ArrayList<>();
        for (String name : done.after) {
            Worker worker = worker(name);
            worker.deadlineNanos = Long.MAX_VALUE;
            if (worker.phase != Phase.BROKEN) {
                worker.phase = Phase.TRAINING;
            }
            if (!done.before.contains(name) && done.kind != Kind.RECOVER) {
                newcomers.add(worker);
            }
        }
        save();
        letGo(done);
        reportBound(newcomers);
    }

    /** Nobody needs the group before any more: survivors drop it, and who leaves may go. */
    private void letGo(EpochTransition done) {
        for (String name : done.before) {
            if (!workers.containsKey(name)) {
                continue; // it has left already
            }
            Worker worker = worker(name);
            if (!done.after.contains(name)) {
                worker.phase = Phase.LEAVING;
                worker.deadlineNanos = System.nanoTime() + LEAVE.toNanos();
            }
            worker.send(message("done"));
        }
    }

    @Override
    void heard(Worker worker, String type, JsonNode message) {
        boolean ofTransition = transition
                .filter(now -> now.epoch == message.path("epoch").asLong())
                .isPresent();
        switch (type) {
            case "hello" -> reportsBack(worker, message);
            case "ready" -> worker.phase = Phase.READY;
            case "prepared" -> {
                if (ofTransition) {
                    worker.failedBuilds = 0;
                    transition.orElseThrow().prepared.add(worker.name);
                    commitIfPrepared(transition.orElseThrow());
                }
                building.filter(done -> done.epoch == message.path("epoch").asLong())
                        .ifPresent(done -> built(done, worker));
            }
            case "unprepared" -> {
                if (message.path("epoch").asLong() == epoch) {
                    unprepared(worker, message.path("why").asText());
                }
            }
            case "boundary" -> passes(worker, message, ofTransition);
            case "aborted" -> aborted(worker, message);
            case "broken" -> {
                worker.phase = Phase.BROKEN;
                worker.step = message.path("step").asLong(-1);
                if (finished) {
                    dismiss(worker.name);
                } else if (recovering.isEmpty() && message.path("epoch").asLong() > abortedEpoch) {
                    startRecovery();
                }
            }
            case "resumed" ->
                measured.filter(done -> done.epoch == message.path("epoch").asLong())
                        .ifPresent(done -> resumed(done, message));
            case "full" ->
                measured.filter(done -> done.epoch == message.path("epoch").asLong())
                        .ifPresent(done -> full(done, worker, message));
            case "bye" -> finishes(worker);
            default -> LOG.debug("{}: {} says {}, which means nothing here", id, worker, type);
        }
    }

    /** A worker has taken the last step. Who trains does so too; who was about to join has nothing left to do. */
    private void finishes(Worker worker) {
        worker.hasFinished = true;
        finished = true;
        for (Worker other : List.copyOf(workers.values())) {
            if (isDispensable(other)) {
                other.process.kill();
            } else if (!members.contains(other.name)) {
                other.deadlineNanos = System.nanoTime() + LEAVE.toNanos();
            } else if (other.phase == Phase.BROKEN) {
                dismiss(other.name);
            }
        }
        if (members.stream().allMatch(name -> worker(name).hasFinished)) {
            members.forEach(name -> worker(name).send(message("farewell")));
        }
    }

    /** A request to the store of the epoch in preparation. */
    void askStore(JsonNode request, ByteBuffer body, EpochStore.Answer answer) {
        boolean now = store.isPresent() && request.path("epoch").asLong() == epoch;
        if (!now) {
            answer.error("the membership epoch is over", false);
            return;
        }
        List<String> keys = new ArrayList<>();
        request.path("keys").forEach(key -> keys.add(key.asText()));
        byte[] value = new byte[body.remaining()];
        body.get(value);
        store.get()
                .ask(
                        request.path("operation").asText(),
                        keys,
                        value,
                        request.path("timeoutMillis").asLong(),
                        System.nanoTime(),
                        answer);
    }

    void expireStore(long nowNanos) {
        store.ifPresent(each -> each.expire(nowNanos));
    }

    /** A group cannot be built, because of another that is dying, most likely; a worker that never can is replaced. */
    private void unprepared(Worker worker, String why) {
        worker.failedBuilds++;
        LOG.warn("{}: {} cannot build the group of epoch {}: {}", id, worker, epoch, why);
        if (worker.failedBuilds >= FAILED_BUILDS) {
            worker.process.kill();
        }
        boolean trainsOn = transition
                .filter(now -> now.kind == Kind.CHANGE && !now.committed)
                .isPresent();
        if (trainsOn) {
            endStore();
            transition = Optional.empty();
        } else if (recovering.isEmpty()) {
            startRecovery();
        }
    }

    private void passes(Worker worker, JsonNode message, boolean ofTransition) {
        worker.step = message.path("step").asLong();
        if (ofTransition) {
            EpochTransition now = transition.orElseThrow();
            worker.phase = now.after.contains(worker.name) ? Phase.TRAINING : Phase.LEAVING;
            now.passed.add(worker.name);
            completeIfPassed(now);
        }
    }

    private void built(EpochTransition done, Worker worker) {
        worker.failedBuilds = 0;
        done.prepared.add(worker.name);
        if (done.isPrepared()) {
            building = Optional.empty();
        }
    }

    private void resumed(EpochTransition done, JsonNode message) {
        if (message.has("lastNanos")) {
            double pause =
                    (message.path("nanos").asLong() - message.path("lastNanos").asLong()) / 1e9
                            - message.path("medianSeconds").asDouble();
            done.pauseSeconds = Optional.of(Math.max(done.pauseSeconds.orElse(0.0), pause));
        }
    }

    private void full(EpochTransition done, Worker worker, JsonNode message) {
        done.full.add(worker.name);
        done.fullNanos = Math.max(done.fullNanos, message.path("nanos").asLong());
        if (!done.full.containsAll(members)) {
            return;
        }
        measured = Optional.empty();
        Optional<Duration> pause = done.pauseSeconds.map(seconds -> Duration.ofNanos((long) (seconds * 1e9)));
        if (!lost.isEmpty()) {
            listener.recovered(
                    id, List.copyOf(lost), new ChangeTimings(Duration.ofNanos(done.fullNanos - lostNanos), pause));
            lost.clear();
        }
        if (!settled && isAllThatIsWanted(members)) {
            settle(new ChangeTimings(Duration.ofNanos(Math.max(0, done.fullNanos - askedNanos)), pause));
        }
    }

    @Override
    void gone(Worker worker) {
        absent.remove(worker.name);
        boolean expected = worker.hasFinished
                || worker.phase == Phase.LEAVING
                || (finished && worker.process.exitCode() == 0)
                || worker.slots.stream().allMatch(this::isReleased);
        boolean member = members.contains(worker.name) || inGroup(worker);
        if (!expected && !finished) {
            countFailure(worker);
        }
        if (worker.phase == Phase.LEAVING) {
            transition.ifPresent(now -> now.passed.add(worker.name));
            members = without(members, worker.name);
            return;
        }
        if (worker.hasFinished || finished) {
            members = without(members, worker.name);
            return;
        }
        if (member) {
            lostNanos = System.nanoTime();
            lost.addAll(worker.slots);
            members = without(members, worker.name);
            startRecovery();
        } else if (transition.filter(now -> now.concerns(worker.name)).isPresent()) {
            endStore();
            transition = Optional.empty();
        }
    }

    /** Whether a worker has, or may have, a seat in the group that is being taken. */
    private boolean inGroup(Worker worker) {
        return transition
                .filter(now -> now.concerns(worker.name) && (now.committed || now.kind != Kind.CHANGE))
                .isPresent();
    }

    @Override
    boolean isDispensable(Worker worker) {
        return (worker.phase == Phase.STARTING || worker.phase == Phase.READY)
                && !members.contains(worker.name)
                && !inGroup(worker)
                && !absent.contains(worker.name);
    }

    /** Breaks the group, so that nobody waits for who is gone, and waits for all that are left to say where they are. */
    private void startRecovery() {
        Set<String> involved = new LinkedHashSet<>(members);
        transition.filter(now -> now.committed || now.kind != Kind.CHANGE).ifPresent(now -> involved.addAll(now.after));
        involved.retainAll(workers.keySet());
        involved.removeIf(name -> worker(name).phase == Phase.LEAVING);
        transition.ifPresent(now -> now.passed.stream()
                .filter(name -> workers.containsKey(name) && worker(name).phase == Phase.LEAVING)
                .forEach(this::dismiss));
        transition = Optional.empty();
        measured = Optional.empty();
        building = Optional.empty();
        endStore();
        recovering.clear();
        recovering.addAll(involved);
        abortedEpoch = epoch;
        save();
        LOG.info("{}: the group of epoch {} is broken; {} are left", id, epoch, involved);
        recovering.forEach(name -> worker(name).send(message("abort")));
        if (recovering.isEmpty()) {
            members = List.of();
        }
    }

    /** A worker has broken its groups, and says whether it had a seat in one. */
    private void aborted(Worker worker, JsonNode message) {
        String phase = message.path("phase").asText();
        if (phase.equals("ready")) {
            worker.phase = Phase.READY;
            recovering.remove(worker.name);
            members = without(members, worker.name);
        } else if (phase.equals("leaving")) {
            recovering.remove(worker.name);
            members = without(members, worker.name);
            dismiss(worker.name);
        }
    }

    private void dismiss(String name) {
        Worker worker = worker(name);
        worker.phase = Phase.LEAVING;
        worker.deadlineNanos = System.nanoTime() + LEAVE.toNanos();
        worker.send(message("leave"));
    }

    private void recover() {
        recovering.retainAll(workers.keySet());
        List<Worker> left = recovering.stream().map(this::worker).toList();
        if (left.stream().anyMatch(worker -> worker.phase != Phase.BROKEN)) {
            return;
        }
        recovering.clear();
        members = List.of();
        long furthest = left.stream().mapToLong(worker -> worker.step).max().orElse(-1);
        if (furthest < 0) {
            // Nobody has a whole state: from the last checkpoint, with new processes.
            left.forEach(worker -> worker.process.kill());
            save();
            return;
        }
        List<Worker> needed = new ArrayList<>(left);
        boolean stayersSuffice = left.stream().anyMatch(worker -> isWanted(worker) && worker.step == furthest);
        if (stayersSuffice) {
            needed.removeIf(worker -> !isWanted(worker));
            left.stream().filter(worker -> !isWanted(worker)).forEach(worker -> dismiss(worker.name));
        }
        needed.sort(Comparator.comparing(worker -> worker.step == furthest ? 0 : 1));
        List<Worker> whole =
                needed.stream().filter(worker -> worker.step == furthest).toList();
        List<String> next = needed.stream().map(worker -> worker.name).toList();
        begin(Kind.RECOVER, next, transfers(whole, next), applied, isAllThatIsWanted(next));
    }

    private void reportsBack(Worker worker, JsonNode hello) {
        worker.hasSeat = hello.path("epoch").asLong() > 0;
        worker.passed = hello.path("passed").asLong();
        worker.step = hello.path("step").asLong(-1);
        worker.prepared.clear();
        hello.path("prepared").forEach(each -> worker.prepared.add(each.asLong()));
        worker.phase = Phase.valueOf(hello.path("phase").asText().toUpperCase(Locale.ROOT));
        worker.deadlineNanos = Long.MAX_VALUE;
        absent.remove(worker.name);
        if (worker.phase == Phase.LEAVING && transition.isEmpty() && inherited == null) {
            dismiss(worker.name);
        }
    }

    /** When all have reported back: a change that they had agreed on goes on, everything else begins anew. */
    private void resolveInheritance() {
        JobFile.Pending left = inherited;
        inherited = null;
        if (left != null) {
            goOnWith(left);
        }
        Set<String> known = workers.keySet();
        boolean incomplete = !known.containsAll(members);
        members = members.stream().filter(known::contains).toList();
        boolean broken = members.stream()
                .map(this::worker)
                .anyMatch(worker -> worker.phase == Phase.BROKEN
                        || (worker.phase == Phase.TRAINING && !worker.hasSeat && worker.prepared.isEmpty()));
        if (recovering.isEmpty() && (incomplete || broken) && !finished && transition.isEmpty()) {
            startRecovery();
        }
    }

    private void goOnWith(JobFile.Pending left) {
        Kind kind = Kind.valueOf(left.kind());
        var begun = new EpochTransition(
                left.epoch(), kind, kind == Kind.CHANGE ? members : List.of(), left.members(), left.wholeChange());
        begun.committed = true;
        transition = Optional.of(begun);
        nextApplied = left.wholeChange() && !left.members().isEmpty() ? batching : applied;
        Set<String> all = new LinkedHashSet<>(begun.before);
        all.addAll(begun.after);
        if (!workers.keySet().containsAll(all) || all.stream().anyMatch(name -> worker(name).phase == Phase.BROKEN)) {
            startRecovery();
            return;
        }
        for (String name : all) {
            Worker worker = worker(name);
            if (worker.passed >= begun.epoch || worker.phase == Phase.LEAVING) {
                begun.passed.add(name);
            } else if (kind == Kind.CHANGE && (worker.prepared.contains(begun.epoch) || !begun.after.contains(name))) {
                tellCommit(begun, name);
            } else {
                startRecovery(); // its group was being built with a store that is gone
                return;
            }
        }
        completeIfPassed(begun);
    }

    private void endIfNothingIsLeft() {
        if (!workers.isEmpty()) {
            return;
        }
        boolean hopeless = wanted.values().stream().allMatch(each -> isGivenUp(each.slot()));
        if (finished || stopping) {
            if (stopping && !settled) {
                settle(ChangeTimings.since(askedNanos));
            }
            end(finished ? lastCode() : 0);
        } else if (!wanted.isEmpty() && hopeless) {
            end(lastCode() == 0 ? 1 : lastCode());
        } else if (wanted.isEmpty() && !settled) {
            settle(ChangeTimings.since(askedNanos));
        }
    }

    private void endStore() {
        store.ifPresent(EpochStore::end);
        store = Optional.empty();
    }

    private ObjectNode message(String type) {
        return Frames.JSON.createObjectNode().put("type", type).put("epoch", epoch);
    }

    private Worker worker(String name) {
        Worker worker = workers.get(name);
        if (worker == null) {
            throw new IllegalStateException("job %s has no worker %s".formatted(id, name));
        }
        return worker;
    }

    private static List<String> without(List<String> names, String name) {
        return names.stream().filter(each -> !each.equals(name)).toList();
    }

    @Override
    JobFile.@Nullable Pending pending() {
        return transition
                .filter(now -> now.committed || now.kind != Kind.CHANGE)
                .map(now -> new JobFile.Pending(now.epoch, now.kind.name(), now.after, now.wholeChange))
                .orElse(inherited);
    }

    @Override
    long epoch() {
        return epoch;
    }

    @Override
    List<String> members() {
        return members;
    }
}
