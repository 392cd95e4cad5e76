import { expect, it } from 'vitest';
import { hasRole, requireRole, ROLES, type Principal, type Role } from './roles.js';

const holder = (...roles: Role[]): Principal => ({ keyId: 'k', projects: [], roles });

it('gives a key what its roles say', () => {
  expect(ROLES.filter((role) => hasRole(holder('ingest', 'read'), role))).toEqual(['ingest', 'read']);
});

it('gives an admin everything', () => {
  expect(ROLES.filter((role) => hasRole(holder('admin'), role))).toEqual([...ROLES]);
});

it('refuses with the role that is needed', () => {
  expect(() => requireRole(holder('read'), 'analyze')).toThrow('role analyze');
  expect(() => requireRole(holder('admin'), 'analyze')).not.toThrow();
});
