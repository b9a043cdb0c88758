package io.lendstream.actuator.adoption;

import io.lendstream.actuator.jobs.PrivateFiles;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcesses;
import io.lendstream.service.host.ProcessName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes of this machine that something else has started and that are tenants now. They are saved on disk: a
 * host on the directory of a killed one goes on with them. Closing a host leaves them running. Only {@link #end} and
 * {@link #kill} send signals, to the root and its descendants. If the root ends by itself, its descendants run on.
 */
public final class AdoptionHost implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AdoptionHost.class);
    private static final long LOOK_MILLIS = 100;
    /** How often descendants are noted; between, a child whose parent ends is lost. */
    private static final Duration LOOK_AT_DESCENDANTS = Duration.ofSeconds(5);
    /** What a root leaves behind by itself mostly ends at once; what runs after this time is given up. */
    private static final Duration LEFT_BEHIND = Duration.ofSeconds(2);
    /** How many ended processes are remembered. */
    private static final int MOST_ENDED = 200;

    private final AdoptionFile file;
    private final AdoptionListener listener;
    private final HostProcesses host;
    private final AdoptionRules rules;
    private final InstantSource clock;
    private final Map<String, Adopted> adopted = new TreeMap<>();
    private final List<AdoptionFile.EndedEntry> ended = new ArrayList<>();
    /** Those of an earlier start of the system, of which the end is still to be reported. */
    private final List<Adopted> lost = new ArrayList<>();

    private boolean unsaved;
    private long lookedNanos = System.nanoTime();
    private final ScheduledExecutorService events = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "adopted");
        thread.setDaemon(true);
        return thread;
    });

    private static final class Adopted {
        final AdoptedTenant tenant;
        final AdoptedProcess process;
        boolean asked;
        boolean killed;
        Optional<Long> graceMillis = Optional.empty();
        long askedNanos;
        Optional<Long> leftNanos = Optional.empty();

        Adopted(AdoptedTenant tenant, HostProcesses host) {
            this.tenant = tenant;
            this.process = new AdoptedProcess(tenant.process(), host);
        }

        void ask(Optional<Long> grace) {
            asked = true;
            graceMillis = grace;
            askedNanos = System.nanoTime();
        }

        /** The root has ended, though no order asked. */
        void leave() {
            leftNanos = leftNanos.or(() -> Optional.of(System.nanoTime()));
        }

        boolean isLeftBehind() {
            return leftNanos
                    .filter(at -> System.nanoTime() - at >= LEFT_BEHIND.toNanos())
                    .isPresent();
        }

        AdoptionEnd end() {
            return killed ? AdoptionEnd.FORCED : asked ? AdoptionEnd.ASKED : AdoptionEnd.UNASKED;
        }

        boolean isOverdue() {
            return asked
                    && graceMillis
                            .filter(millis -> System.nanoTime() - askedNanos >= millis * 1_000_000)
                            .isPresent();
        }
    }

    private record Gone(AdoptedTenant adopted, AdoptionEnd end) {}

    AdoptionHost(Path directory, AdoptionListener listener, InstantSource clock, SignalCheck signals, long own) {
        this.file = new AdoptionFile(directory.resolve("adopted.json"));
        this.listener = listener;
        this.clock = clock;
        this.host = new HostProcesses();
        this.rules = new AdoptionRules(host, signals, own);
        AdoptionFile.Content content = file.read();
        ended.addAll(content.ended());
        boolean isOver = content.isOfAnotherBoot(host.boot());
        for (AdoptionFile.Entry entry : content.processes()) {
            var each = new Adopted(entry.adopted(), host);
            if (entry.asked()) {
                each.ask(Optional.ofNullable(entry.graceMillis()));
            }
            if (isOver) {
                lost.add(each);
                remember(each);
            } else {
                adopted.put(entry.process(), each);
            }
        }
    }

    /** Starts to watch the processes, and to report their ends. */
    public void start() {
        var unused = events.scheduleWithFixedDelay(this::look, 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Opens a host on a directory that only this user may read, and goes on with its processes. It watches them after
     * its {@link #start}.
     *
     * @throws UncheckedIOException if the directory or its file cannot be used
     */
    public static AdoptionHost open(Path directory, AdoptionListener listener, InstantSource clock) {
        try {
            PrivateFiles.directory(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use %s for adopted processes".formatted(directory), e);
        }
        return new AdoptionHost(
                directory.toAbsolutePath(),
                listener,
                clock,
                SignalCheck::byShell,
                ProcessHandle.current().pid());
    }

    /** Learns selectors: a tenant then takes over only what its selector matches. */
    public void know(Map<Tenant, AdoptionSelector> selectors) {
        rules.know(selectors);
    }

    /**
     * Takes a process over as it is. Repeated, it changes nothing.
     *
     * @param user its name, as {@link ProcessScan} finds it
     * @return why it is not taken over, which leaves it untouched; empty if it is
     */
    public synchronized Optional<String> adopt(DecisionId decision, Tenant tenant, String user, List<GpuId> units) {
        Adopted there = adopted.get(user);
        List<GpuId> sorted = GpuId.sorted(units);
        if (there != null
                && there.tenant.tenant().equals(tenant)
                && there.tenant.units().equals(sorted)) {
            return Optional.empty();
        }
        Optional<String> refusal = rules.refusal(user, tenant, sorted, all());
        if (refusal.isPresent()) {
            return refusal.map(why -> "%s is not taken over: %s".formatted(user, why));
        }
        ProcessName name = ProcessName.parse(user).orElseThrow();
        var next = new Adopted(new AdoptedTenant(tenant, name, sorted, decision), host);
        next.process.look();
        adopted.put(user, next);
        try {
            write();
        } catch (UncheckedIOException e) {
            adopted.remove(user);
            return Optional.of("%s is not taken over: %s: %s".formatted(user, e.getMessage(), e.getCause()));
        }
        LOG.info("took over {} as {} on {}", user, tenant, sorted);
        return Optional.empty();
    }

    /** The adopted processes of a tenant. */
    public synchronized List<AdoptedTenant> of(Tenant tenant) {
        return all().stream().filter(each -> each.tenant().equals(tenant)).toList();
    }

    /** Whether a process is adopted. */
    public synchronized boolean holds(String user) {
        return adopted.containsKey(user);
    }

    /** Why a process cannot be ended from here; empty if it can. It starts a process, so it is not cheap. */
    public Optional<String> signalRefusal(String user) {
        return ProcessName.parse(user).flatMap(name -> rules.signalRefusal(name));
    }

    /** Whether a process was asked to end. */
    public synchronized boolean isEnding(AdoptedTenant one) {
        return find(one).filter(each -> each.asked).isPresent();
    }

    /**
     * Sends SIGTERM once.
     *
     * @param grace after which it is killed; without one it is not killed by itself
     */
    public synchronized void end(AdoptedTenant one, Optional<Duration> grace) {
        find(one).filter(each -> !each.asked && each.process.isRunning()).ifPresent(each -> {
            each.ask(grace.map(Duration::toMillis));
            save(); // before the signal: another actuator process must not take the end for one by itself
            if (!each.process.terminate() && each.process.isRunning()) {
                LOG.error("{} of {} cannot be signalled", one.process(), one.tenant());
            }
        });
    }

    /** Sends SIGKILL to a process and its descendants, until none is left. */
    public synchronized void kill(AdoptedTenant one) {
        find(one).ifPresent(each -> {
            each.killed = true;
            each.asked = true;
            save();
            each.process.kill();
        });
    }

    /** Forgets a process, which goes on as if it had never been taken over. */
    public synchronized void letGo(AdoptedTenant one) {
        find(one).ifPresent(each -> {
            adopted.remove(one.process().toString());
            save();
            LOG.info("gave up {} of {}, which runs on", one.process(), one.tenant());
        });
    }

    /** Forgets all processes of other tenants, unless they were asked to end. */
    public synchronized void letGoOfOthers(Set<Tenant> tenants) {
        all().stream()
                .filter(each -> !tenants.contains(each.tenant()) && !isEnding(each))
                .forEach(this::letGo);
    }

    /** When a process of a tenant ended that was adopted and was not to end; empty if none did. */
    public synchronized Optional<Instant> endedByItself(Tenant tenant) {
        return ended.stream()
                .filter(each -> !each.asked() && each.tenant().equals(tenant))
                .map(each -> Instant.ofEpochMilli(each.atMillis()))
                .max(Instant::compareTo);
    }

    /** Whether a process was adopted and has ended. */
    public synchronized boolean hasEnded(String user) {
        return ended.stream().anyMatch(each -> each.process().equals(user));
    }

    private List<AdoptedTenant> all() {
        return adopted.values().stream().map(each -> each.tenant).toList();
    }

    private Optional<Adopted> find(AdoptedTenant one) {
        return Optional.ofNullable(adopted.get(one.process().toString())).filter(each -> each.tenant.equals(one));
    }

    private void look() {
        try {
            lookAtAll().forEach(gone -> listener.gone(gone.adopted(), gone.end()));
        } catch (RuntimeException e) {
            LOG.error("checking adopted processes failed; will retry", e);
        }
    }

    private synchronized List<Gone> lookAtAll() {
        if (unsaved) {
            save();
        }
        boolean isTime = System.nanoTime() - lookedNanos >= LOOK_AT_DESCENDANTS.toNanos();
        List<Gone> gone = new ArrayList<>();
        lost.forEach(each -> gone.add(new Gone(each.tenant, each.end())));
        lost.clear();
        for (Adopted each : List.copyOf(adopted.values())) {
            if (each.killed || each.isOverdue()) {
                each.killed = true;
                each.process.kill();
            } else if (!each.process.isRunning() && each.asked) {
                each.process.kill(); // what the root has left behind
            } else if (!each.process.isRunning()) {
                each.process.look();
                each.leave();
            } else if (isTime || each.asked) {
                each.process.look();
            }
            boolean isGone = each.process.isGone();
            if (isGone || (each.isLeftBehind() && !each.asked)) {
                adopted.remove(each.tenant.process().toString());
                remember(each);
                gone.add(new Gone(each.tenant, isGone ? each.end() : AdoptionEnd.OTHERS_RUN_ON));
            }
        }
        lookedNanos = isTime ? System.nanoTime() : lookedNanos;
        if (!gone.isEmpty()) {
            save();
        }
        return gone;
    }

    private void remember(Adopted each) {
        ended.add(new AdoptionFile.EndedEntry(
                each.tenant.tenant().jobId().map(job -> job.value()).orElse(null),
                each.tenant.tenant().serviceId().map(service -> service.value()).orElse(null),
                each.tenant.process().toString(),
                each.asked,
                clock.millis()));
        while (ended.size() > MOST_ENDED) {
            ended.remove(0);
        }
    }

    private void write() {
        file.write(new AdoptionFile.Content(
                AdoptionFile.VERSION,
                adopted.values().stream()
                        .map(each -> AdoptionFile.Entry.of(each.tenant, each.asked, each.graceMillis))
                        .toList(),
                List.copyOf(ended),
                host.boot().orElse(null)));
    }

    /** Saves the state; after a failure, as on a full disk, it is retried at the next check. */
    private void save() {
        try {
            write();
            unsaved = false;
        } catch (UncheckedIOException e) {
            if (!unsaved) {
                LOG.error("cannot save the list of adopted processes; will retry", e);
            }
            unsaved = true;
        }
    }

    /** Releases the directory; the processes go on. */
    @Override
    public void close() {
        events.shutdownNow();
        try {
            events.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
