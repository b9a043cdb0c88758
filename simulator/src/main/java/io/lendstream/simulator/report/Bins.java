package io.lendstream.simulator.report;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A quantity over time in a bounded number of equal bins, each with its mean and its peak. Bins lie on whole multiples
 * of their width since 1970, and several are merged into one whenever they would become too many: 1, 5, 15, 30, 60
 * seconds, and doublings from there. So those of any two quantities match once both are as wide.
 */
final class Bins {
    /** So many points a screen can show; a bin more is no more to see. */
    static final int MOST = 600;

    private static final long NARROWEST_MILLIS = 1000;

    private long widthMillis = NARROWEST_MILLIS;
    private long first;
    private int size;
    private double[] amounts = new double[32];
    private double[] coveredMillis = new double[32];
    private double[] peaks = new double[32];

    /** One bin; its numbers are 0 where nothing is known. */
    record Bin(Instant at, double amount, double mean, double peak, boolean known) {}

    /** Notes that the quantity had this value throughout a time; nothing where the time is empty. */
    void hold(Instant from, Instant to, double value) {
        if (!to.isAfter(from) || !Double.isFinite(value)) {
            return;
        }
        long begin = from.toEpochMilli();
        long end = to.toEpochMilli();
        makeRoom(begin, end);
        for (long bin = Math.floorDiv(begin, widthMillis); bin * widthMillis < end; bin++) {
            long covered = Math.min(end, (bin + 1) * widthMillis) - Math.max(begin, bin * widthMillis);
            put((int) (bin - first), value * (double) covered, covered, value);
        }
    }

    /** Adds to what happened at a time; {@link Bin#amount} has the sum of it. */
    void tally(Instant at, double amount) {
        long begin = at.toEpochMilli();
        makeRoom(begin, begin + 1);
        put((int) (Math.floorDiv(begin, widthMillis) - first), amount, 0, amount);
    }

    boolean isEmpty() {
        return size == 0;
    }

    long widthMillis() {
        return widthMillis;
    }

    /** The bins in order, gaps included, widened to a width that this one has or comes to. */
    List<Bin> bins(long atWidthMillis) {
        Bins wide = copy();
        while (wide.widthMillis < atWidthMillis && wide.size > 0) {
            wide.widen();
        }
        List<Bin> list = new ArrayList<>(wide.size);
        for (int i = 0; i < wide.size; i++) {
            double covered = wide.coveredMillis[i];
            list.add(new Bin(
                    Instant.ofEpochMilli((wide.first + i) * wide.widthMillis),
                    wide.amounts[i],
                    covered > 0 ? wide.amounts[i] / covered : 0,
                    wide.peaks[i] == Double.NEGATIVE_INFINITY ? 0 : wide.peaks[i],
                    wide.peaks[i] != Double.NEGATIVE_INFINITY));
        }
        return list;
    }

    private void put(int index, double amount, long covered, double peak) {
        amounts[index] += amount;
        coveredMillis[index] += (double) covered;
        peaks[index] = Math.max(peaks[index], peak);
    }

    private void makeRoom(long begin, long end) {
        if (size == 0) {
            while (binsBetween(begin, end) > MOST) {
                widthMillis *= nextFactor();
            }
            first = Math.floorDiv(begin, widthMillis);
            resize(first, (int) binsBetween(begin, end));
            return;
        }
        while (binsBetween(Math.min(begin, first * widthMillis), Math.max(end, (first + size) * widthMillis)) > MOST) {
            widen();
        }
        long from = Math.min(first, Math.floorDiv(begin, widthMillis));
        long last = Math.max(first + size - 1, Math.floorDiv(end - 1, widthMillis));
        resize(from, (int) (last - from + 1));
    }

    private long binsBetween(long begin, long end) {
        return Math.floorDiv(end - 1, widthMillis) - Math.floorDiv(begin, widthMillis) + 1;
    }

    private void resize(long newFirst, int newSize) {
        if (newFirst == first && newSize == size) {
            return;
        }
        int shift = size == 0 ? 0 : (int) (first - newFirst);
        if (newSize > amounts.length || shift > 0) {
            int capacity = Math.max(newSize, Math.min(MOST, amounts.length * 2));
            amounts = moved(amounts, shift, capacity, 0);
            coveredMillis = moved(coveredMillis, shift, capacity, 0);
            peaks = moved(peaks, shift, capacity, Double.NEGATIVE_INFINITY);
        }
        Arrays.fill(peaks, shift + size, newSize, Double.NEGATIVE_INFINITY);
        first = newFirst;
        size = newSize;
    }

    private double[] moved(double[] values, int shift, int capacity, double nothing) {
        double[] result = new double[capacity];
        Arrays.fill(result, nothing);
        System.arraycopy(values, 0, result, shift, size);
        return result;
    }

    private int nextFactor() {
        return widthMillis == 1000 ? 5 : widthMillis == 5000 ? 3 : 2;
    }

    private void widen() {
        int factor = nextFactor();
        long wideFirst = Math.floorDiv(first, factor);
        int wideSize = (int) (Math.floorDiv(first + size - 1, factor) - wideFirst + 1);
        double[] wideAmounts = new double[amounts.length];
        double[] wideCovered = new double[amounts.length];
        double[] widePeaks = new double[amounts.length];
        Arrays.fill(widePeaks, Double.NEGATIVE_INFINITY);
        for (int i = 0; i < size; i++) {
            int to = (int) (Math.floorDiv(first + i, factor) - wideFirst);
            wideAmounts[to] += amounts[i];
            wideCovered[to] += coveredMillis[i];
            widePeaks[to] = Math.max(widePeaks[to], peaks[i]);
        }
        amounts = wideAmounts;
        coveredMillis = wideCovered;
        peaks = widePeaks;
        first = wideFirst;
        size = wideSize;
        widthMillis *= factor;
    }

    Bins copy() {
        Bins copy = new Bins();
        copy.widthMillis = widthMillis;
        copy.first = first;
        copy.size = size;
        copy.amounts = amounts.clone();
        copy.coveredMillis = coveredMillis.clone();
        copy.peaks = peaks.clone();
        return copy;
    }
}
