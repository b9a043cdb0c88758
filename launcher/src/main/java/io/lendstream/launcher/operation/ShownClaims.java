package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.AdoptionClaim;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What runs already in a domain: what would be taken over, by whom, and what stays foreign, with the reason. */
record ShownClaims(LendingExplainer log, Instant at, GpuNames names) {
    private static final String UNCLAIMED = "no selector matches it";

    private static final String UNCLEAR = "no selector is known to match it so far";

    private static final String UNLOOKED =
            "  declared, but not looked yet (actuators report what they find within a minute; if it stays so, see 'lendstream doctor'):";

    private static final int MOST_NODES = 5;

    private boolean areUsersHeeded() {
        return log.scheduler()
                .map(Scheduler::settings)
                .filter(settings -> settings.model().users().heeded())
                .isPresent();
    }

    private String gpus(Collection<GpuId> units) {
        return units.stream().map(names::of).collect(Collectors.joining(", "));
    }

    /** The GPUs of which no claim speaks, with their users. */
    private SortedMap<GpuId, ForeignUse> unclaimed(List<AdoptionClaim> claims) {
        SortedMap<GpuId, ForeignUse> foreign = new TreeMap<>(names.order());
        foreign.putAll(log.foreign());
        Set<GpuId> claimed =
                claims.stream().flatMap(claim -> claim.units().stream()).collect(Collectors.toSet());
        foreign.keySet().removeAll(claimed);
        return foreign;
    }

    /** A line for each thing. */
    List<String> lines(String domain) {
        List<String> lines = new ArrayList<>();
        if (log.obstacle().isPresent()) {
            lines.add("domain %s: what runs already is unknown: %s"
                    .formatted(domain, log.obstacle().get()));
            return lines;
        }
        lines.add("domain %s (event %d of its log, %s, replayed %s):"
                .formatted(domain, log.lastEvent(), Times.exact(log.lastEventAt()), ReplayStart.inWords(log.start())));
        if (!areUsersHeeded()) {
            lines.add("  nothing is taken over: scheduler.heed-users is false, so that all GPUs count as unused");
            return lines;
        }
        List<AdoptionClaim> claims = log.claims(at);
        List<String> clear = new ArrayList<>();
        List<String> foreign = new ArrayList<>();
        for (AdoptionClaim claim : claims) {
            (claim.isClear() ? clear : foreign).add(line(claim));
        }
        boolean isLookedAt = unfound(claims).keySet().stream()
                .allMatch(tenant -> log.unlooked(tenant).isEmpty());
        unclaimed(claims)
                .forEach((gpu, use) -> foreign.add("    %s: %s"
                        .formatted(
                                names.of(gpu),
                                use.users().isEmpty()
                                        ? use.inWords()
                                        : use.inWords() + "; " + (isLookedAt ? UNCLAIMED : UNCLEAR))));
        add(lines, "  would be taken over, as it is:", clear);
        add(lines, "  stays foreign:", foreign);
        boolean isLooked = addUnfound(lines, claims);
        if (clear.isEmpty() && foreign.isEmpty() && isLooked) {
            lines.add("  no GPU is foreign, and nothing is found that could be taken over");
        }
        return lines;
    }

    /** Adds the jobs and services of which nothing is found; true if all nodes were looked at since they wait. */
    private boolean addUnfound(List<String> lines, List<AdoptionClaim> claims) {
        List<String> waiting = new ArrayList<>();
        List<String> unlooked = new ArrayList<>();
        unfound(claims).forEach((tenant, selector) -> {
            String line = "    %s: %s".formatted(tenant, selector.inWords());
            SortedSet<NodeId> nodes = log.unlooked(tenant);
            if (nodes.isEmpty()) {
                waiting.add(line);
            } else {
                unlooked.add("%s (%s)".formatted(line, some(nodes)));
            }
        });
        add(lines, UNLOOKED, unlooked);
        add(lines, "  declared, but nothing is found that matches:", waiting);
        return unlooked.isEmpty();
    }

    /** The jobs and services that wait for something that no actuator finds. */
    private Map<Tenant, AdoptionSelector> unfound(List<AdoptionClaim> claims) {
        Map<Tenant, AdoptionSelector> unfound = log.waiting();
        claims.forEach(claim -> claim.found().claimedBy().forEach(unfound::remove));
        return unfound;
    }

    private String line(AdoptionClaim claim) {
        return "    %s%s: %s"
                .formatted(
                        claim.inWords(),
                        claim.units().isEmpty() ? "" : " on " + gpus(claim.units()),
                        claim.obstacle()
                                .map(why -> claim.tenant()
                                        .map(tenant -> tenant + ": " + why)
                                        .orElse(why))
                                .or(() -> claim.tenant().map(Tenant::toString))
                                .orElse(""));
    }

    private static String some(SortedSet<NodeId> nodes) {
        String first = nodes.stream().limit(MOST_NODES).map(NodeId::value).collect(Collectors.joining(", "));
        return nodes.size() > MOST_NODES ? "%s and %d more".formatted(first, nodes.size() - MOST_NODES) : first;
    }

    private static void add(List<String> lines, String title, List<String> of) {
        if (!of.isEmpty()) {
            lines.add(title);
            lines.addAll(of);
        }
    }

    private static String name(Tenant tenant) {
        return tenant.<String>match(
                Tenant.Cases.of(job -> "job/" + job.job(), service -> "service/" + service.service()));
    }

    /** The same for tools. */
    void put(ObjectNode json) {
        if (log.obstacle().isPresent()) {
            json.put("obstacle", log.obstacle().get());
            return;
        }
        json.put("event", log.lastEvent()).put("eventAt", log.lastEventAt().toString());
        ReplayStart.put(json, log.start());
        json.put("heedsUsers", areUsersHeeded());
        List<AdoptionClaim> claims = areUsersHeeded() ? log.claims(at) : List.of();
        ArrayNode found = json.putArray("found");
        for (AdoptionClaim claim : claims) {
            ObjectNode one = found.addObject()
                    .put("node", claim.found().node().value())
                    .put("user", claim.found().user())
                    .put("shown", claim.found().shown());
            claim.tenant().ifPresent(tenant -> one.put("claimedBy", name(tenant)));
            ArrayNode gpus = one.putArray("gpus");
            claim.units().forEach(unit -> gpus.add(unit.value()));
            one.put("clear", claim.isClear());
            claim.obstacle().ifPresent(why -> one.put("obstacle", why));
        }
        ArrayNode waiting = json.putArray("unfound");
        ArrayNode unlooked = json.putArray("notLooked");
        unfound(claims).keySet().forEach(tenant -> {
            waiting.add(name(tenant));
            if (!log.unlooked(tenant).isEmpty()) {
                unlooked.add(name(tenant));
            }
        });
        ArrayNode foreign = json.putArray("foreign");
        unclaimed(claims).forEach((gpu, use) -> {
            ObjectNode one = foreign.addObject().put("gpu", gpu.value());
            ArrayNode users = one.putArray("users");
            use.users().forEach(users::add);
        });
    }
}
