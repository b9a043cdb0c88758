package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptedTenant;
import io.lendstream.actuator.adoption.AdoptionEnd;
import io.lendstream.actuator.adoption.AdoptionHost;
import io.lendstream.actuator.adoption.ProcessScan;
import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.actuator.jobs.JobHost;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.HostProcesses;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs and replicas as processes of this node, from the node's own files ({@link Programs}). It cannot
 * repartition GPUs.
 */
public final class ProcessDriver implements Driver {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessDriver.class);

    private static final String JOBS = "jobs";

    private final ProcessPlan plan;
    private final DriverListener driverListener;
    private final ExecutorService later = DriverThreads.pool(1, "process-driver");
    private final AdoptionHost adoptions;
    private final TrainingProcesses jobs;
    private final AdoptedJobs adopted;
    private final ServiceReplicas services;

    /**
     * @param programs the programs of the node
     * @param state directory for its state; only this user may read it
     * @param environment the environment that jobs and replicas inherit
     * @param machine this machine, if jobs here may have GPUs of other machines too
     */
    public ProcessDriver(
            Programs programs,
            Path state,
            CleanEnvironment environment,
            Optional<Machine> machine,
            ClusterLookup surroundings,
            DriverListener driverListener,
            InstantSource clock) {
        Worlds worlds = new Worlds(machine, surroundings);
        this.plan = new ProcessPlan(programs, machine, surroundings);
        this.driverListener = driverListener;
        this.jobs =
                new TrainingProcesses(programs, state.resolve(JOBS), environment, worlds, driverListener, clock, later);
        this.adoptions = AdoptionHost.open(
                state.resolve("adopted"), (tenant, end) -> later.execute(() -> gone(tenant, end)), clock);
        this.adopted = new AdoptedJobs(adoptions, jobs, driverListener);
        this.services = new ServiceReplicas(
                programs,
                state.resolve("replicas"),
                environment,
                new AdoptedReplicas(adoptions, driverListener),
                surroundings,
                driverListener,
                later);
        adoptions.start();
    }

    /** A process has ended that something else had started. */
    private void gone(AdoptedTenant tenant, AdoptionEnd end) {
        try {
            if (tenant.tenant().isJob()) {
                adopted.gone(tenant, end);
            } else {
                services.gone(tenant, end);
            }
        } catch (RuntimeException e) {
            LOG.warn("cannot report the end of {}; the next start of the actuator will", tenant, e);
        }
    }

    /** Why it cannot keep its state in a directory, with the way out. */
    public static Optional<String> complaint(Path state) {
        return JobHost.complaint(state.resolve(JOBS));
    }

    /** An order that fails unexpectedly must not end the actuator, which has other orders to execute. */
    @Override
    public void take(Order order) {
        try {
            begin(order);
        } catch (RuntimeException e) {
            LOG.error("cannot execute {}", order, e);
            DriverEvents.failureOf(order, "the process driver failed: " + e).ifPresent(driverListener::tell);
        }
    }

    private void begin(Order order) {
        if (order instanceof Order.Place place) {
            place.tenant()
                    .match(Tenant.Cases.<Runnable>of(
                            job -> () -> adopted.place(job.job(), place),
                            service -> () -> services.place(service.service(), place)))
                    .run();
        } else if (order instanceof Order.Force force) {
            force.tenant()
                    .match(Tenant.Cases.<Runnable>of(
                            job -> () -> adopted.force(job.job(), force),
                            service -> () -> services.force(service.service(), force)))
                    .run();
        } else {
            DriverEvents.failureOf(order, "the process driver cannot execute this kind of order")
                    .ifPresent(driverListener::tell);
        }
    }

    @Override
    public void resumed(Set<Tenant> placed) {
        adoptions.letGoOfOthers(placed);
    }

    @Override
    public List<String> plan(Order order) {
        return plan.of(order);
    }

    @Override
    public boolean seesWhatRuns() {
        return true;
    }

    @Override
    public Optional<TenantFinder> finder() {
        var scan = new ProcessScan(new HostProcesses(), ProcessHandle.current().pid());
        return Optional.of(new ProcessFinder(scan, adoptions));
    }

    @Override
    public List<String> complaints() {
        return plan.complaints();
    }

    /** Closes its connections to jobs and replicas, which continue to run. */
    @Override
    public void close() {
        adoptions.close();
        later.shutdownNow();
        jobs.close();
        services.close();
    }
}
