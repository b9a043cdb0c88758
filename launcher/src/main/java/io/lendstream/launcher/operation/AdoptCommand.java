package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.operation.ControlOrder.Taken;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.time.TimeMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what runs already and who claims it, and has it taken over. */
@Command(
        name = "adopt",
        description = {
            "Take over what runs already and matches the selector ('adopt') of a declared job or service, as it is.",
            "The scheduler does so by itself soon after the declaration; this command does it also for what a service claims later.",
            "--dry-run changes nothing: it lists what would be taken over, by whom, and what stays foreign, with the reason."
        },
        footer = "Example: lendstream adopt --dry-run --domain east")
public final class AdoptCommand extends ControlCommands.OfDomains {
    private static final String FORM = "job/NAME or service/NAME, such as service/chat";

    @Parameters(
            paramLabel = "NAME",
            arity = "0..*",
            description = "job/NAME or service/NAME. Default: all jobs and services of the domains.")
    private List<String> names = new ArrayList<>();

    @Option(names = "--dry-run", description = "Only list what would be taken over and what stays foreign.")
    private boolean dryRun;

    private boolean isRemarked;

    public AdoptCommand() {
        super(Kind.ADOPT, "what runs already is taken over; nothing of it is restarted");
    }

    @Override
    void checkNames() {
        super.checkNames();
        names.forEach(AdoptCommand::tenant);
        if (dryRun && !names.isEmpty()) {
            throw UserError.badUsage("--dry-run lists all jobs and services; leave '%s' out.".formatted(names.get(0)));
        }
    }

    private static Tenant tenant(String name) {
        int slash = name.indexOf('/');
        String kind = slash < 0 ? "" : name.substring(0, slash);
        if (!kind.equals("job") && !kind.equals("service")) {
            throw UserError.badUsage("NAME is '%s', but must be %s.".formatted(name, FORM));
        }
        String value = UserError.checkedName("the %s of NAME".formatted(kind), name.substring(slash + 1));
        return kind.equals("job") ? new Tenant.Job(new JobId(value)) : new Tenant.Service(new ServiceId(value));
    }

    @Override
    List<ControlCommand> commands(TopicScan reading, Instant now) {
        List<Tenant> tenants = names.stream().map(AdoptCommand::tenant).toList();
        checkDeclared(reading);
        return super.commands(reading, now).stream()
                .map(command -> command.about(tenants))
                .toList();
    }

    /** Without a selector no running process can belong to a tenant. */
    private void checkDeclared(TopicScan reading) {
        Map<Tenant, Boolean> selecting = new HashMap<>();
        if (!names.isEmpty()) {
            reading.values(
                    TopicCatalogue.SERVICES,
                    service -> selecting.put(
                            new Tenant.Service(service.service()),
                            service.adopt().isPresent()));
            reading.values(
                    TopicCatalogue.TRAINING_JOBS,
                    job -> selecting.put(new Tenant.Job(job.job()), job.adopt().isPresent()));
        }
        for (String name : names) {
            Tenant tenant = tenant(name);
            if (!selecting.containsKey(tenant)) {
                throw UserError.failed("%s is not declared; 'lendstream get %s' lists what is."
                        .formatted(name, tenant.isJob() ? "jobs" : "services"));
            }
            if (!selecting.getOrDefault(tenant, false)) {
                throw UserError.failed(
                        "%s has no 'adopt', so no running process can be its own. Apply it with a selector in 'adopt'."
                                .formatted(name));
            }
        }
    }

    @Override
    boolean isFollowed(Taken taken) {
        boolean isFollowed = taken.decisions().stream()
                .anyMatch(decision -> decision.action().asAdopt().isPresent());
        if (!isFollowed && !isRemarked) {
            isRemarked = true;
            remark("nothing was taken over; 'lendstream adopt --dry-run' says why");
        }
        return isFollowed;
    }

    @Override
    public Integer call() {
        return dryRun ? show() : super.call();
    }

    private int show() {
        checkNames();
        Cluster cluster = cluster();
        DomainHistory.check(cluster);
        var reading = new TopicScan(cluster, this::remark);
        GpuNames gpus = reading.gpuNames();
        Instant at = cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL ? Instant.EPOCH : Instant.now();
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        for (DomainId domain : domains(reading)) {
            ShownClaims claims = new ShownClaims(replayed(cluster, reading, domain), at, gpus);
            if (json()) {
                ObjectNode one = all.addObject().put("domain", domain.value());
                claims.put(one);
            } else {
                print(claims.lines(domain.value()));
            }
        }
        if (json()) {
            print(all);
        }
        return 0;
    }

    private SortedSet<DomainId> domains(TopicScan reading) {
        SortedSet<DomainId> domains = new TreeSet<>();
        super.commands(reading, Instant.EPOCH).forEach(command -> domains.add(command.domain()));
        return domains;
    }

    private LendingExplainer replayed(Cluster cluster, TopicScan reading, DomainId domain) {
        LendingExplainer log = new LendingExplainer(domain);
        try (DomainHistory history = new DomainHistory(reading, cluster.topics(), this::remark)) {
            history.replayToTheEnd(List.of(domain), Optional.empty(), log::after, log::take);
        }
        return log;
    }
}
