package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.QueueLedger;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;

/** An {@link Overview} for tools. */
final class OverviewJson {
    private final Overview overview;
    private final WorkloadFigures figures;

    OverviewJson(Overview overview) {
        this.overview = overview;
        this.figures = overview.figures();
    }

    ObjectNode at(Instant now) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("at", now.toString());
        ArrayNode alarms = json.putArray("alarms");
        overview.alarms(now).forEach(alarms::add);
        putSchedulers(json.putArray("schedulers"));
        putGpus(json.putArray("gpus"));
        putServices(json.putArray("services"), now);
        putJobs(json.putArray("jobs"));
        putQueues(json.putArray("queues"));
        putActuators(json.putArray("actuators"));
        ArrayNode last = json.putArray("decisions");
        overview.decisions().forEach(decision -> last.add(Explained.json(decision)));
        return json;
    }

    private void putGpus(ArrayNode gpus) {
        UnitParts parts = overview.parts();
        overview.leases().forEach(lease -> {
            ObjectNode gpu = gpus.addObject()
                    .put("gpu", lease.gpuId().value())
                    .put("name", overview.names().of(lease.gpuId()))
                    .put("node", lease.nodeId().value())
                    .put("domain", lease.domain().value())
                    .put("pool", EventText.lower(lease.pool()))
                    .put("owner", lease.owner().label())
                    .put("since", lease.since().toString())
                    .put("words", EventText.of(lease));
            lease.kind().ifPresent(kind -> gpu.put("kind", kind.value()));
            lease.owner().holder().ifPresent(tenant -> put(gpu, tenant));
            parts.put(gpu, lease);
            IntruderDiagnosis.put(gpu, lease);
        });
    }

    private void putSchedulers(ArrayNode schedulers) {
        overview.schedulers().forEach(known -> {
            ObjectNode one = schedulers
                    .addObject()
                    .put("domain", known.started().domain().value())
                    .put("epoch", known.started().epoch())
                    .put("policy", known.scheduler().policy().spec())
                    .put("looksAhead", known.scheduler().policy().info().looksAhead())
                    .put("noticeSeconds", known.scheduler().settings().notice().toSeconds())
                    .put("lending", known.scheduler().settings().lending())
                    .put(
                            "lendingState",
                            overview.commands()
                                    .lending(
                                            known.started().domain(),
                                            known.scheduler().settings().lending()))
                    .put(
                            "advisory",
                            overview.commands().isAdvisory(known.started().domain()));
            overview.trust().level(known.started().domain()).ifPresent(level -> one.put("trust", level));
            if (!known.declared().isEmpty()) {
                ObjectNode declared = one.putObject("declaredSettings");
                known.declared().forEach(declared::put);
            }
        });
    }

    private void putServices(ArrayNode lines, Instant now) {
        overview.services().forEach(service -> {
            Optional<ReplicaNeed> known = overview.need(service, now);
            ReplicaNeed need = known.orElseGet(() -> Overview.leastNeed(service, now));
            ObjectNode line = lines.addObject()
                    .put("service", service.spec().service().value())
                    .put("requestsPerSecond", service.arrivalsPerSecond())
                    .put("needed", need.replicas())
                    .put("neededNow", need.now())
                    .put("serving", figures.serving(service))
                    .put("warm", figures.warm(service))
                    .put("starting", figures.starting(service))
                    .put("stale", WorkloadFigures.isStale(service, now));
            known.ifPresent(all -> line.put("neededAhead", all.ahead())
                    .put(
                            "forecastUsed",
                            overview.policyWithoutForecast(service).isEmpty()
                                    && WorkloadFigures.hasFreshForecast(service, now)));
            RoleFigures.putRoles(line, need, figures.servingByRole(service));
            SortedMap<KindId, Integer> kinds = figures.replicasByKind(service);
            if (!kinds.isEmpty()) {
                ObjectNode replicas = line.putObject("replicasByKind");
                kinds.forEach((kind, count) -> replicas.put(kind.value(), count));
            }
            WorkloadFigures.peak(service).ifPresent(most -> line.put("forecastP99PerSecond", most));
            WorkloadFigures.gpus(service).ifPresent(most -> line.put("forecastP99Gpus", most));
        });
    }

    private void putJobs(ArrayNode all) {
        figures.shownJobs().forEach(job -> {
            WorkloadFigures.Held held = figures.held(job);
            ObjectNode one = all.addObject()
                    .put("job", job.spec().job().value())
                    .put("phase", figures.phase(job))
                    .put("gpus", held.gpus())
                    .put("lent", held.lent());
            if (held.gpus() > 0) {
                WorkloadFigures.Known known = figures.known(job);
                one.put("goodput", EventText.lower(known));
                if (known != WorkloadFigures.Known.UNKNOWN) {
                    one.put("goodputSamplesPerSecond", WorkloadFigures.goodput(job, held));
                }
            } else {
                overview.refusal(job.spec().job()).ifPresent(why -> one.put("refused", why));
            }
        });
    }

    private void putQueues(ArrayNode all) {
        Map<DomainId, QueueLedger> ledgers = overview.ledgers();
        overview.queues().queues().forEach(queue -> {
            QueueLedger ledger = Objects.requireNonNull(ledgers.get(queue.domain()));
            ObjectNode one = all.addObject()
                    .put("queue", queue.queue().value())
                    .put("domain", queue.domain().value())
                    .put("weightedShare", ledger.weightedShare(queue.queue()));
            queue.cohort().ifPresent(cohort -> one.put("cohort", cohort));
            ArrayNode quotas = one.putArray("quotas");
            ledger.uses(queue.queue()).forEach(use -> {
                ObjectNode quota = quotas.addObject()
                        .put("nominal", use.nominal())
                        .put("used", use.used())
                        .put("leaving", use.leaving())
                        .put("borrowed", use.borrowed())
                        .put("limit", use.limit());
                use.kind().ifPresent(kind -> quota.put("kind", kind.value()));
            });
        });
    }

    private void putActuators(ArrayNode all) {
        for (ActuatorDescription actuator : overview.described().all()) {
            Abilities abilities = actuator.abilities();
            ObjectNode one = all.addObject()
                    .put("actuator", actuator.actuator())
                    .put("domain", actuator.domain().value())
                    .put("driver", actuator.driver())
                    .put("atBind", EventText.lower(abilities.atBind()))
                    .put("atRelease", EventText.lower(abilities.atRelease()))
                    .put("granularity", EventText.lower(abilities.granularity()))
                    .put("mig", abilities.mig())
                    .put("suspend", abilities.suspend())
                    .put("sharing", abilities.sharing())
                    .put("spansNodes", abilities.spansNodes());
            ArrayNode nodes = one.putArray("nodes");
            actuator.nodes().forEach(node -> nodes.add(node.value()));
        }
    }

    private static void put(ObjectNode gpu, Tenant tenant) {
        tenant.match(Tenant.Cases.of(
                job -> gpu.put("job", job.job().value()),
                service -> gpu.put("service", service.service().value())));
    }
}
