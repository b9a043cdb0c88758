package io.lendstream.core.forecast;

/** What was seen last goes on. */
final class Persistence implements PointModel {
    private double last = Double.NaN;

    @Override
    public void observe(long step, double level) {
        last = level;
    }

    @Override
    public void miss(long step) {}

    @Override
    public double ahead(int horizon) {
        return last;
    }

    @Override
    public void save(StateWriter out) {
        out.number(last);
    }

    @Override
    public void load(StateReader in) {
        last = in.number();
    }
}
