package dev.larder.examples.opencl;

import org.jocl.cl_mem;

/**
 * Floats in memory of a device, which somebody else owns.
 *
 * @param rowStep how many elements lie between the beginnings of two rows
 * @param columnStep how many elements lie between two neighbours of a row
 */
record Matrix(cl_mem memory, int rows, int columns, int rowStep, int columnStep) {
    /** Describes rows that lie one after the other. */
    static Matrix of(cl_mem memory, int rows, int columns) {
        return new Matrix(memory, rows, columns, columns, 1);
    }

    Matrix transposed() {
        return new Matrix(memory, columns, rows, columnStep, rowStep);
    }

    Matrix firstRows(int count) {
        return new Matrix(memory, count, columns, rowStep, columnStep);
    }

    int size() {
        return Math.multiplyExact(rows, columns);
    }
}
