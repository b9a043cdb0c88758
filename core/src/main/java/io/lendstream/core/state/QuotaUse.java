package io.lendstream.core.state;

import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.util.Locale;
import java.util.Optional;

/**
 * The use of one quota, in GPUs.
 *
 * @param kind the kind of the quota; empty for that of all kinds that the queue does not name
 * @param nominal the nominal quota
 * @param used GPUs that the queue's tenants take, hold or leave
 * @param leaving those of them that are being released
 * @param limit most GPUs that a decision may raise {@code used} to
 */
public record QuotaUse(
        QueueId queue, Optional<KindId> kind, double nominal, double used, double leaving, double limit) {
    /** Sums of compute slices are rounded. */
    private static final double ROUNDING = 1e-6;

    /** Whether the queue may have so many GPUs more. */
    public boolean takes(double gpus) {
        return used + gpus <= limit + ROUNDING;
    }

    /** Whether the queue has more than a decision may raise it to. */
    public boolean isOver() {
        return !takes(0);
    }

    /** GPUs that the queue has beyond what a decision may raise it to; at least 0. */
    public double over() {
        return isOver() ? used - limit : 0;
    }

    /** Whether the queue, once all releases are reported, has at most its nominal quota with so many GPUs more. */
    public boolean isNominalWith(double gpus) {
        return used - leaving + gpus <= nominal + ROUNDING;
    }

    /** GPUs that the queue has beyond its nominal quota, once all releases are reported; at least 0. */
    public double excess() {
        double excess = used - leaving - nominal;
        return excess > ROUNDING ? excess : 0;
    }

    /** GPUs that the queue has beyond its nominal quota. */
    public double borrowed() {
        return Math.max(0, used - nominal);
    }

    /** Whole GPUs that the queue may have more. */
    public int room() {
        return (int) Math.max(0, Math.floor(limit - used + ROUNDING));
    }

    /** The same quota with part of its limit kept for others. */
    public QuotaUse keeping(double gpus) {
        return new QuotaUse(queue, kind, nominal, used, leaving, limit - gpus);
    }

    /** The same quota after units of it were released. */
    public QuotaUse freeing(double gpus) {
        return new QuotaUse(queue, kind, nominal, used - gpus, Math.max(0, leaving - gpus), limit);
    }

    /** For example {@code 6 of at most 8 GPUs of A100-SXM4-80GB (nominal quota 4)}. */
    public String inWords() {
        return "%s of at most %s %s%s (nominal quota %s%s)"
                .formatted(
                        text(used),
                        text(limit),
                        text(limit).equals("1") ? "GPU" : "GPUs",
                        kind.map(of -> " of " + of).orElse(""),
                        text(nominal),
                        leaving > ROUNDING ? ", " + text(leaving) + " being released" : "");
    }

    /** A number of GPUs, with at most two digits of a fraction. */
    public static String text(double gpus) {
        double hundredths = Math.rint(gpus * 100) / 100;
        return hundredths == Math.rint(hundredths)
                ? String.valueOf((long) hundredths)
                : String.format(Locale.ROOT, "%.2f", hundredths);
    }

    /** A number of GPUs for people, such as {@code 1 GPU} or {@code 1.50 GPUs}. */
    public static String gpus(double gpus) {
        String number = text(gpus);
        return number.equals("1") ? "1 GPU" : number + " GPUs";
    }
}
